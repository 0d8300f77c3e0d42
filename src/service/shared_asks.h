// What a check asks the cluster, and what has come of it so far.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "service/shared_limit.h"
#include "service/shared_name.h"
#include "weir/decision.h"
#include "weir/keyed_limiter.h"

namespace weir {

class Cluster;

// Who is told that a check can go on.
class CheckWaiter {
 public:
  // All that one of its checks waited for is known. Called by the loop, never from within a check.
  virtual void OnSettled() = 0;

 protected:
  ~CheckWaiter() = default;
};

// One key under one shared limit.
struct SharedAsk {
  const SharedLimit* limit = nullptr;
  KeyHash key{};
  Permits cost{1};
  std::uint32_t finding = 0;  // which finding of the check its answer is
  // Those with the same number, side by side, are taken whole or not at all.
  std::uint32_t whole = 0;
  SharedName name = {};     // good while the check is being made, and then:
  std::string called = {};  //   empty if nobody needed it yet

  // What came of it. Who waits has a number with the host that it waits for, 0 otherwise.
  std::uint64_t waiter = 0;
  bool is_taken = false;   // and can be given back
  bool is_fallen = false;  // nobody answered, its failure policy did
  Decision decision = {};
};

// All that one check asks for at a time. Stays where it is while it waits.
class SharedAsks {
 public:
  SharedAsks() = default;
  ~SharedAsks() { Clear(); }
  SharedAsks(const SharedAsks&) = delete;
  SharedAsks& operator=(const SharedAsks&) = delete;

  void Add(SharedAsk ask) { asks_.push_back(std::move(ask)); }
  // The check goes on, and what its keys are made of lies elsewhere now.
  void SetValues(const rule::Values& values) {
    for (SharedAsk& ask : asks_) ask.name.values = &values;
  }
  // Nobody wants to know any more.
  void Clear();

  [[nodiscard]] bool empty() const { return asks_.empty(); }
  [[nodiscard]] bool is_waiting() const { return waiting_ != 0; }
  [[nodiscard]] std::span<const SharedAsk> asks() const { return asks_; }

 private:
  friend class Cluster;
  // From `first` on, those that are taken with it.
  std::span<SharedAsk> WholeFrom(std::size_t first);

  std::vector<SharedAsk> asks_;
  std::size_t waiting_ = 0;     // of them
  Cluster* cluster_ = nullptr;  // that was asked
  CheckWaiter* waiter_ = nullptr;
};

}  // namespace weir
