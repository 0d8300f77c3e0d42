// The background job that keeps the rules in force up to date.
//
// It looks at a source (files, a database), hands new rules to whoever puts them in force, and
// waits. Nothing that goes wrong ends it, or takes rules out of force: bad rules and a source that
// is away leave the last good ones, show in status(), and are over when they are over.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "catalog/retriever_schedule.h"
#include "catalog/retriever_status.h"
#include "catalog/rule_source.h"
#include "rule/problem.h"
#include "rule/rule.h"

namespace weir::catalog {

// Thread safety: everything may be called by any thread, but for Start(), which is called once.
class Retriever {
 public:
  // Puts rules in force: one set per namespace, and all there are. Returns what is wrong with them,
  // and then has changed nothing. Called by one thread at a time: that of Start(), then ours.
  using Publish =
      std::function<rule::Problems(std::vector<rule::RuleSet> sets, const std::string& version)>;

  // Is told what each look made of the status. Called by the same threads.
  using Observe = std::function<void(const RetrieverStatus& before, const RetrieverStatus& after)>;

  Retriever(std::unique_ptr<RuleSource> source, const RetrieverOptions& options, Publish publish,
            Observe observe = {});
  // Returns when the thread has ended, which a look under way may delay.
  ~Retriever();
  Retriever(const Retriever&) = delete;
  Retriever& operator=(const Retriever&) = delete;

  // Makes the first look before it returns, so that a server starts with its rules or can say why
  // not; then starts the thread, in any case.
  RetrieverStatus Start();

  // Has the thread look now, and waits up to `patience` for what comes of it. REQUIRES: Start().
  RetrieverStatus LookNow(std::chrono::milliseconds patience = {});

  [[nodiscard]] RetrieverStatus status() const;

 private:
  void Run(const std::stop_token& stop);
  void Look();
  Retrieved Ask();
  rule::Problems Offer(Retrieved& found);

  const std::unique_ptr<RuleSource> source_;
  const Publish publish_;
  const Observe observe_;
  RetrieverSchedule schedule_;  // of the thread that looks

  mutable std::mutex mutex_;
  std::condition_variable looked_;
  RetrieverStatus status_;   // guarded by mutex_
  std::uint64_t begun_ = 0;  // looks; guarded by mutex_

  std::jthread thread_;  // last: ends before what it uses
};

}  // namespace weir::catalog
