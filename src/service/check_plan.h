// What a check comes to, worked out once for all requests of a class.
//
// Which rules match, which allowances count and which keys there are is the same for all requests
// of one class (rule/request_classes.h); only the values differ. Where nothing else has a say (no
// shadow, no delay, no time at which something ends), a check is: hash the values, take from the
// limits. Such a plan is short. Of all others it is only known which rules match.
//
// Thread safety: none; a thread has its own plans.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/core_counters.h"
#include "limiter/ledger.h"
#include "rule/attribute.h"
#include "rule/request_classes.h"
#include "rule/rulebook.h"
#include "service/checker.h"

namespace weir {

struct CheckPlan {
  static constexpr std::size_t kMostParts = Ledger::kMostAtOnce;

  std::vector<std::uint32_t> found;  // the rules, as Space::Find() finds them
  bool is_short = false;
  // If it is short:
  std::vector<std::span<const rule::CompiledKeyPart>> values;  // what keys are made of, each once
  std::vector<Ledger::Part> bans;            // who is banned there is for the long way
  std::vector<Ledger::Part> parts;           // one for each limit of each counter
  std::vector<Finding> findings;             // of each part, without what it will say
  std::vector<CoreCounters::Cell*> allowed;  // where this thread counts what it allows
  bool is_counted_short = false;             // and that is all there is to count
};

class CheckPlans {
 public:
  constexpr CheckPlans() = default;

  // The plan for a request; null if its class cannot be told. Good for as many calls as there may
  // be classes: what is begun anew is kept until it is again.
  [[gnu::always_inline]] const CheckPlan* Find(const ActiveRules& active, const rule::Space& space,
                                               const rule::Values& values) {
    if (last_ == nullptr || last_->serial != space.serial()) {
      if (!Open(space)) return nullptr;
    }
    const std::uint32_t number = last_->is_usable ? last_->classes->Of(values) : kNone;
    if (number < last_->plans.size()) [[likely]] {
      return last_->plans[number].get();
    }
    return number != kNone ? Add(active, space, values) : GiveUp();
  }

 private:
  static constexpr std::uint32_t kNone = rule::RequestClasses::kNone;
  static constexpr std::size_t kSpaces = 64;  // that are remembered at a time
  // Where two want one place, who has it keeps it for so many requests of the other: what is
  // remembered of a namespace takes longer to find out than a few hundred requests without it.
  static constexpr std::uint32_t kPatience = 512;
  // Of one namespace under one set of rules.
  struct Known {
    explicit Known(const rule::Space& space);
    std::uint64_t serial;
    bool is_usable;
    std::unique_ptr<rule::RequestClasses> classes;
    std::vector<std::unique_ptr<const CheckPlan>> plans;  // by class
  };

  // Makes `space` the last one; false if there is no place for it.
  bool Open(const rule::Space& space);
  // Begins anew if there are too many classes.
  const CheckPlan* GiveUp();
  const CheckPlan* Add(const ActiveRules& active, const rule::Space& space,
                       const rule::Values& values);

  Known* last_ = nullptr;
  std::array<std::unique_ptr<Known>, kSpaces> known_;
  std::array<std::uint32_t, kSpaces> turned_away_{};  // since it is there
  std::unique_ptr<Known> retired_;
};

}  // namespace weir
