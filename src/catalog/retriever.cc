#include "catalog/retriever.h"

#include <exception>
#include <random>
#include <utility>

namespace weir::catalog {
namespace {

RetrieverStatus::Time Now() {
  return std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
}

}  // namespace

Retriever::Retriever(std::unique_ptr<RuleSource> source, const RetrieverOptions& options,
                     Publish publish, Observe observe)
    : source_(std::move(source)),
      publish_(std::move(publish)),
      observe_(std::move(observe)),
      schedule_(options, std::random_device{}()) {
  status_.source = source_->Describe();
}

Retriever::~Retriever() {
  thread_.request_stop();
  source_->Wake();
}

RetrieverStatus Retriever::Start() {
  Look();
  thread_ = std::jthread([this](const std::stop_token& stop) { Run(stop); });
  return status();
}

RetrieverStatus Retriever::LookNow(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  // One that is under way may have read before the caller changed what is to be seen.
  const std::uint64_t wanted = begun_ + 1;
  source_->Wake();
  looked_.wait_for(lock, patience, [&] { return status_.looks >= wanted; });
  return status_;
}

RetrieverStatus Retriever::status() const {
  const std::lock_guard lock(mutex_);
  return status_;
}

void Retriever::Run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    source_->Wait(schedule_.WaitAfter(status().failures));
    if (!stop.stop_requested()) Look();
  }
}

void Retriever::Look() {
  {
    const std::lock_guard lock(mutex_);
    ++begun_;
  }
  Retrieved found = Ask();
  const rule::Problems refused = Offer(found);
  const RetrieverStatus before = status();  // which only this thread changes
  RetrieverStatus after = before;
  after.Note(found, refused, Now());
  {
    const std::lock_guard lock(mutex_);
    status_ = after;
  }
  looked_.notify_all();
  if (observe_) observe_(before, after);
}

// What a source throws (no memory, a database's own errors) is as good as being away: the next look
// tries again.
Retrieved Retriever::Ask() {
  try {
    return source_->Look();
  } catch (const std::exception& failure) {
    Retrieved away;
    away.outcome = Retrieved::Outcome::kAway;
    away.away = failure.what();
    return away;
  }
}

rule::Problems Retriever::Offer(Retrieved& found) {
  if (found.outcome != Retrieved::Outcome::kRules) return {};
  try {
    return publish_(std::move(found.sets), found.version);
  } catch (const std::exception& failure) {
    return {{found.version, {}, "", std::string("cannot be put in force: ") + failure.what(), ""}};
  }
}

}  // namespace weir::catalog
