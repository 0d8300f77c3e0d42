// How many connections there may be, in all and from one peer.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "net/limits.h"
#include "rule/address.h"

namespace weir::net {

// Thread safety: any thread. Asked when a connection comes and goes, never for a request.
class Admission {
 public:
  explicit Admission(const AdmissionLimits& limits) : limits_(limits) {}
  Admission(const Admission&) = delete;
  Admission& operator=(const Admission&) = delete;

  // Each that returns true is to be given back by its Leave.
  [[nodiscard]] bool Enter();
  void Leave();
  [[nodiscard]] bool EnterFrom(const rule::Address& peer);
  void LeaveFrom(const rule::Address& peer);

 private:
  struct Hash {
    std::size_t operator()(const rule::Address& address) const {
      const auto& bytes = address.bytes();
      return std::hash<std::string_view>()(
          {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    }
  };

  const AdmissionLimits limits_;
  std::atomic<std::size_t> connections_ = 0;
  std::mutex mutex_;
  std::unordered_map<rule::Address, std::size_t, Hash> peers_;  // guarded by mutex_
};

// A place of one connection, given back when it goes.
class Seat {
 public:
  explicit Seat(Admission& admission) : admission_(&admission) {}
  Seat(const Seat&) = delete;
  Seat& operator=(const Seat&) = delete;
  ~Seat();

  // Whether there is one. At most once each.
  [[nodiscard]] bool Take();
  [[nodiscard]] bool TakeFor(const rule::Address& peer);

 private:
  Admission* admission_;
  bool taken_ = false;
  std::optional<rule::Address> peer_;
};

}  // namespace weir::net
