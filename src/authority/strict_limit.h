// A limit that many hosts enforce together to the letter, prepared once for all its keys.
//
// Any limit will do: what is decided is decided by the library's own algorithms, on a copy of the
// key's state (strict_host.h).
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "algorithm/plan.h"
#include "authority/host_key.h"
#include "weir/limit.h"
#include "weir/result.h"
#include "weir/units.h"

namespace weir::authority {

// A limit as it is written down with each state, and what computes with it.
struct WrittenLimit {
  std::string text;  // Limit::ToString()
  algorithm::Plan plan;
  // How much longer a state is kept than it is remembered. Nothing, where a key never seen and a
  // key long idle are the same. They are not where a key begins with less than it can have (a
  // pacer, a bucket with `initial`): forgotten at once, it would begin anew after each pause.
  Nanos kept_for{0};
};

// Limits by their texts, so that each is read once.
class WrittenLimits {
 public:
  // Null if it makes no sense.
  std::shared_ptr<const WrittenLimit> Find(std::string_view text);

 private:
  static constexpr std::size_t kMost = 1'000;

  std::unordered_map<std::string, std::shared_ptr<const WrittenLimit>> limits_;
};

// Cheap to copy. Thread safety: may be shared, it never changes.
class StrictLimit {
 public:
  // A state is sent whole with each change, so it must not be large: 64 KiB, a sliding log of some
  // 4,000 permits.
  static constexpr std::size_t kMostWords = 8'192;
  // WrittenLimit::kept_for of those that begin with less.
  static constexpr Nanos kKeptFor = std::chrono::hours(24);

  // Fails if the limit makes no sense, or its state is too large.
  static Result<StrictLimit> Of(const Limit& limit, OnFailure on_failure = OnFailure::kLocal);

  [[nodiscard]] const algorithm::Plan& plan() const { return written_->plan; }
  [[nodiscard]] const std::string& text() const { return written_->text; }
  [[nodiscard]] const std::shared_ptr<const WrittenLimit>& written() const { return written_; }
  // What to answer while nobody can be asked.
  [[nodiscard]] OnFailure on_failure() const { return on_failure_; }

 private:
  StrictLimit(std::shared_ptr<const WrittenLimit> written, OnFailure on_failure)
      : written_(std::move(written)), on_failure_(on_failure) {}

  std::shared_ptr<const WrittenLimit> written_;
  OnFailure on_failure_;
};

}  // namespace weir::authority
