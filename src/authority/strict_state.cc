#include "authority/strict_state.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "base/byte_words.h"
#include "base/check.h"
#include "base/time.h"
#include "base/timeline_state.h"
#include "limiter/refund.h"

namespace weir::authority {

using algorithm::Plan;
using algorithm::State;

namespace {

// The first byte of a stamp, and so of all values; an account of RedisAuthority has another.
constexpr char kFormat = 'T';
constexpr std::size_t kTextSizeBytes = 2;
constexpr std::size_t kTakesBytes = sizeof(RecentTakes::Written);
constexpr std::size_t kHeadBytes = kStampBytes + 2 * kWordBytes + kTakesBytes + kTextSizeBytes;

void AppendWord(std::uint64_t word, std::string& out) {
  out.append(reinterpret_cast<const char*>(&word), sizeof word);  // little end first
}

}  // namespace

std::string StrictState::MakeStamp(std::uint64_t number) {
  std::string stamp(1, kFormat);
  AppendWord(number, stamp);
  return stamp;
}

StrictState StrictState::Read(std::string_view value, WrittenLimits& limits) {
  if (value.size() < kHeadBytes || value.front() != kFormat) return {};
  std::uint16_t text_size = 0;
  std::memcpy(&text_size, value.data() + kHeadBytes - kTextSizeBytes, sizeof text_size);
  const std::string_view rest = value.substr(kHeadBytes);
  if (rest.size() < text_size || (rest.size() - text_size) % kWordBytes != 0) return {};
  StrictState state;
  state.limit_ = limits.Find(rest.substr(0, text_size));
  const std::size_t count = (rest.size() - text_size) / kWordBytes;
  if (state.limit_ == nullptr || count > state.limit_->plan.words()) return {};
  state.latest_ns_ = static_cast<std::int64_t>(LoadWord(value.data() + kStampBytes));
  state.set_back_ns_ = static_cast<std::int64_t>(LoadWord(value.data() + kStampBytes + kWordBytes));
  if (state.latest_ns_ < 0 || state.set_back_ns_ < 0) return {};
  RecentTakes::Written takes;
  std::memcpy(&takes, value.data() + kStampBytes + 2 * kWordBytes, sizeof takes);
  state.takes_ = RecentTakes(takes);
  state.words_.resize(state.limit_->plan.words());
  for (std::size_t i = 0; i < count; ++i) {
    state.words_[i] = LoadWord(rest.data() + text_size + i * kWordBytes);
  }
  return state;
}

std::string StrictState::Write(std::string_view stamp) const {
  WEIR_CHECK(stamp.size() == kStampBytes && limit_ != nullptr);
  std::size_t count = words_.size();
  while (count > 0 && words_[count - 1] == 0) --count;
  const auto text_size = static_cast<std::uint16_t>(limit_->text.size());
  std::string value;
  value.reserve(kHeadBytes + text_size + count * kWordBytes);
  value += stamp;
  AppendWord(static_cast<std::uint64_t>(latest_ns_), value);
  AppendWord(static_cast<std::uint64_t>(set_back_ns_), value);
  value.append(reinterpret_cast<const char*>(&takes_.written()), kTakesBytes);
  value.append(reinterpret_cast<const char*>(&text_size), sizeof text_size);
  value += limit_->text;
  for (std::size_t i = 0; i < count; ++i) AppendWord(words_[i], value);
  return value;
}

// The key's own timeline, for the length of one step.
Timeline::Moment StrictState::Follow(const WrittenLimit& limit, Instant now) {
  TimelineState seen;
  seen.latest_ns = latest_ns_;
  seen.set_back_ns = set_back_ns_;
  const Timeline::Moment moment = Timeline(seen, limit.plan.memory()).Follow(now);
  latest_ns_ = seen.latest_ns;
  set_back_ns_ = seen.set_back_ns;
  return moment;
}

void StrictState::Adopt(const std::shared_ptr<const WrittenLimit>& limit, Instant at) {
  if (limit_ == limit) return;
  const std::shared_ptr<const WrittenLimit> before = std::exchange(limit_, limit);
  if (before != nullptr && before->text == limit->text) return;
  const std::vector<std::uint64_t> words = std::exchange(words_, {});
  words_.resize(limit->plan.words());
  if (before != nullptr) limit->plan.Carry(before->plan, words, words_, at);
}

template <typename Step>
Decision StrictState::Change(const std::shared_ptr<const WrittenLimit>& limit, Instant now,
                             const Step& step) {
  const Timeline::Moment moment = Follow(*limit, now);
  Adopt(limit, moment.now);
  State state{std::span<const std::uint64_t>(words_)};
  Decision decision = step(limit->plan, state, moment.now);
  for (const WordWrite& write : state.writes()) words_[write.index] = write.value;
  is_changed_ = is_changed_ || !state.writes().empty();
  Timeline::Adjust(decision, moment.ahead);
  return decision;
}

Decision StrictState::Take(const std::shared_ptr<const WrittenLimit>& limit, Permits cost,
                           Instant now) {
  const Decision decision = Change(limit, now, [cost](const Plan& plan, State& state, Instant at) {
    return plan.Admit(state, cost, at);
  });
  if (decision.allowed()) takes_.Add(cost, now);
  return decision;
}

Decision StrictState::Peek(const std::shared_ptr<const WrittenLimit>& limit, Permits cost,
                           Instant now) {
  return Change(limit, now, [cost](const Plan& plan, State& state, Instant at) {
    const Decision decision = plan.Peek(state, cost, at);
    state.Discard();
    return decision;
  });
}

void StrictState::Charge(const std::shared_ptr<const WrittenLimit>& limit, Permits cost,
                         Instant now) {
  Change(limit, now, [cost](const Plan& plan, State& state, Instant at) {
    return plan.Charge(state, cost, at);
  });
}

void StrictState::CountRefusal(const std::shared_ptr<const WrittenLimit>& limit, Permits cost,
                               Instant now) {
  Change(limit, now, [cost](const Plan& plan, State& state, Instant at) {
    plan.CountRefusal(state, cost, at);
    return Decision{};
  });
}

void StrictState::Refund(const std::shared_ptr<const WrittenLimit>& limit, Permits cost,
                         Instant now, Instant taken) {
  if (limit_ == nullptr) return;  // nothing is used
  RefundInSteps(cost, [&](Permits left) {
    Permits given{0};
    Change(limit, now, [&](const Plan& plan, State& state, Instant at) {
      given = plan.Refund(state, left, at, std::min(taken, at));
      return Decision{};
    });
    return given;
  });
}

std::optional<Decision> StrictState::Look(const WrittenLimit& limit, Permits cost,
                                          Instant now) const {
  if (limit_ == nullptr || (limit_.get() != &limit && limit_->text != limit.text)) {
    return std::nullopt;
  }
  StrictState time;  // what it follows is forgotten
  time.latest_ns_ = latest_ns_;
  time.set_back_ns_ = set_back_ns_;
  const Timeline::Moment moment = time.Follow(limit, now);
  State state{std::span<const std::uint64_t>(words_)};
  Decision decision = limit.plan.Peek(state, cost, moment.now);
  Timeline::Adjust(decision, moment.ahead);
  return decision;
}

Nanos StrictState::ForgottenIn(Instant now) const {
  WEIR_CHECK(limit_ != nullptr);
  const Instant here = Later(now, Nanos(set_back_ns_));
  const Instant from = std::max(here, latest());  // the store's clock is still behind that
  State state{std::span<const std::uint64_t>(words_)};
  const Instant until = Later(Later(from, limit_->plan.ForgottenIn(state, from)), limit_->kept_for);
  return until - here;
}

}  // namespace weir::authority
