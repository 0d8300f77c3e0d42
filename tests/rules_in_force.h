// Stands for the limiter in tests of what brings it rules: keeps their names, and tells when they
// are as expected.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <vector>

#include "rule/problem.h"
#include "rule/rule.h"

namespace weir {

// {"shop/login", "shop/api"}
inline std::vector<std::string> NamesOf(const std::vector<rule::RuleSet>& sets) {
  std::vector<std::string> names;
  for (const rule::RuleSet& set : sets) {
    for (const rule::Rule& rule : set.rules) names.push_back(set.space + "/" + rule.name);
  }
  return names;
}

class RulesInForce {
 public:
  rule::Problems Publish(const std::vector<rule::RuleSet>& sets) {
    const std::lock_guard lock(mutex_);
    names_ = NamesOf(sets);
    changed_.notify_all();
    return {};
  }

  // False if a minute was not enough.
  bool Await(const std::vector<std::string>& names) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::minutes(1), [&] { return names_ == names; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> names_;
};

}  // namespace weir
