#include "authority/breaker.h"

namespace weir::authority {

bool Breaker::Admits(Instant now) {
  if (state_ == State::kClosed) return true;
  if (now < next_) return false;
  state_ = State::kProbing;
  next_ = now + Jittered(options_.probe_every);
  return true;
}

void Breaker::Succeeded(Instant now) {
  in_a_row_ = 0;
  Count(now, false);
  if (state_ == State::kClosed) return;
  state_ = State::kClosed;
  asked_ = failed_ = 0;
}

void Breaker::Failed(Instant now) {
  ++in_a_row_;
  Count(now, true);
  if (state_ != State::kClosed) return;  // those that were under way when it opened, and probes
  const bool is_bad_second = asked_ >= options_.least_in_window && 2 * failed_ > asked_;
  if (in_a_row_ >= options_.failures_in_a_row || is_bad_second) Open(now);
}

void Breaker::Count(Instant now, bool has_failed) {
  if (now >= window_end_) {
    window_end_ = now + options_.window;
    asked_ = failed_ = 0;
  }
  ++asked_;
  if (has_failed) ++failed_;
}

void Breaker::Open(Instant now) {
  state_ = State::kOpen;
  next_ = now + Jittered(options_.open_for);
}

// From three quarters to five quarters of it.
Nanos Breaker::Jittered(Nanos time) {
  // splitmix64: a stream of its own for each seed, without the 2.5 KB of a Mersenne twister.
  std::uint64_t mixed = chance_ += 0x9e3779b97f4a7c15;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
  mixed ^= mixed >> 31;
  const std::int64_t range = time.count() / 2;
  if (range == 0) return time;
  return Nanos(time.count() - range / 2 +
               static_cast<std::int64_t>(mixed % static_cast<std::uint64_t>(range)));
}

}  // namespace weir::authority
