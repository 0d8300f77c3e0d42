// Fixed window, sliding window, sliding counters and sliding log.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "model.h"
#include "weir/limit.h"

namespace weir::reference {

// Windows from the epoch, or from the first request on. What is above the limit is owed, and paid
// from the windows that follow.
class FixedWindow : public Sum {
 public:
  FixedWindow(Whole nominal, Whole most, Whole period, WindowStart start, Denied denied)
      : Sum(std::move(nominal), std::move(most)),
        period_(std::move(period)),
        begins_(start),
        denied_(denied) {}

  [[nodiscard]] std::unique_ptr<Model> Clone() const override {
    return std::make_unique<FixedWindow>(*this);
  }
  [[nodiscard]] Number Used(const Whole& at) const override { return Number(At(at).used); }
  [[nodiscard]] Whole LastInLine() const override { return window_ ? window_->start : Whole(0); }
  void Add(const Whole& cost, const Whole& at) override {
    window_ = At(at);
    window_->used += cost;
  }
  void Remove(const Whole& cost, const Whole& at) override {
    if (at < LastInLine()) return;
    window_ = At(at);
    window_->used -= std::min(cost, window_->used);
    if (window_->used == 0) window_.reset();
  }
  void Refuse(const Whole& cost, const Whole& at) override {
    if (denied_ == Denied::kIgnored || at < LastInLine()) return;
    window_ = At(at);
    window_->used = std::max(window_->used, std::min(most_, Whole(window_->used + cost)));
  }
  void Inherit(const FixedWindow& old, const Whole& at) {
    const Window before = old.At(at);
    // A window that was reserved stays ahead.
    if (before.used > 0) Add(before.used, std::max(at, before.start));
    if (before.used > 0 && begins_ == WindowStart::kFirstRequest && begins_ == old.begins_) {
      window_->start = before.start;
    }
  }

 private:
  struct Window {
    Whole start;
    Whole used;
  };

  // The window that counts at an instant, if nobody comes until then.
  [[nodiscard]] Window At(const Whole& at) const {
    const Whole fresh = begins_ == WindowStart::kEpoch ? Whole(at / period_ * period_) : at;
    if (!window_) return {fresh, 0};
    if (at < window_->start) return *window_;
    const Whole passed = (at - window_->start) / period_;
    const Whole paid = passed * most_;
    if (window_->used <= paid && passed > 0) return {fresh, 0};
    return {window_->start + passed * period_, window_->used - paid};
  }

  Whole period_;
  WindowStart begins_;
  Denied denied_;
  std::optional<Window> window_;
};

// The count of this window, and that of the one before in proportion to what is still in view.
class SlidingWindow : public Sum {
 public:
  SlidingWindow(Whole nominal, Whole most, Whole period)
      : Sum(std::move(nominal), std::move(most)), period_(std::move(period)) {}

  [[nodiscard]] std::unique_ptr<Model> Clone() const override {
    return std::make_unique<SlidingWindow>(*this);
  }
  [[nodiscard]] Number Used(const Whole& at) const override {
    const Whole number = at / period_;
    const Number gone(Whole(at % period_), period_);
    return Number(CountOf(number)) + Number(CountOf(number - 1)) * (1 - gone);
  }
  [[nodiscard]] Whole LastInLine() const override {
    return counts_.empty() ? Whole(0) : Whole(counts_.rbegin()->first * period_);
  }
  void Add(const Whole& cost, const Whole& at) override {
    const Whole number = at / period_;
    counts_[number] += cost;
    counts_.erase(counts_.begin(), counts_.lower_bound(number - 1));
  }
  void Remove(const Whole& cost, const Whole& at) override {
    Whole left = cost;
    for (const Whole& number : {Whole(at / period_), Whole(at / period_ - 1)}) {
      const auto found = counts_.find(number);
      if (found == counts_.end()) continue;
      const Whole back = std::min(left, found->second);
      found->second -= back;
      left -= back;
    }
  }
  void Inherit(const SlidingWindow& old, const Whole& /*at*/) { counts_ = old.counts_; }

 private:
  [[nodiscard]] Whole CountOf(const Whole& number) const {
    const auto found = counts_.find(number);
    return found == counts_.end() ? Whole(0) : found->second;
  }

  Whole period_;
  std::map<Whole, Whole> counts_;  // by the number of the window
};

// The counts of the last `parts` parts of the period, the current one included.
class SlidingCounters : public Sum {
 public:
  SlidingCounters(Whole nominal, Whole most, Whole period, Whole parts)
      : Sum(std::move(nominal), std::move(most)),
        period_(std::move(period)),
        parts_(std::move(parts)) {}

  [[nodiscard]] std::unique_ptr<Model> Clone() const override {
    return std::make_unique<SlidingCounters>(*this);
  }
  [[nodiscard]] Number Used(const Whole& at) const override {
    Whole used = 0;
    for (const auto& part : counts_) {
      if (part.first > PartAt(at) - parts_) used += part.second;
    }
    return Number(used);
  }
  [[nodiscard]] Whole LastInLine() const override {
    return counts_.empty() ? Whole(0) : Ceil(Number(counts_.rbegin()->first * period_, parts_));
  }
  void Add(const Whole& cost, const Whole& at) override {
    counts_[PartAt(at)] += cost;
    counts_.erase(counts_.begin(), counts_.lower_bound(PartAt(at) - parts_));
  }
  void Remove(const Whole& cost, const Whole& at) override {
    Whole left = cost;
    for (auto part = counts_.upper_bound(PartAt(at)); left > 0 && part != counts_.begin();) {
      --part;
      if (part->first <= PartAt(std::max(at, LastInLine())) - parts_) break;
      const Whole back = std::min(left, part->second);
      part->second -= back;
      left -= back;
      if (part->second == 0) part = counts_.erase(part);
    }
  }
  void Inherit(const SlidingCounters& old, const Whole& /*at*/) { counts_ = old.counts_; }

 private:
  [[nodiscard]] Whole PartAt(const Whole& at) const { return at * parts_ / period_; }

  Whole period_;
  Whole parts_;
  std::map<Whole, Whole> counts_;  // by the number of the part
};

// Every request of the last period.
class SlidingLog : public Sum {
 public:
  SlidingLog(Whole nominal, Whole most, Whole period, Whole min_gap, Denied denied)
      : Sum(std::move(nominal), std::move(most)),
        period_(std::move(period)),
        min_gap_(std::move(min_gap)),
        denied_(denied) {}

  [[nodiscard]] std::unique_ptr<Model> Clone() const override {
    return std::make_unique<SlidingLog>(*this);
  }
  [[nodiscard]] Number Used(const Whole& at) const override {
    Whole used = 0;
    for (const Entry& entry : log_) {
      if (entry.at + period_ > at) used += entry.permits;
    }
    return Number(used);
  }
  [[nodiscard]] Whole LastInLine() const override { return last_.value_or(0); }
  [[nodiscard]] Whole Gap() const override { return last_ ? min_gap_ : Whole(0); }
  void Add(const Whole& cost, const Whole& at) override {
    Forget(at);
    log_.push_back({at, cost});
    last_ = at;
  }
  // The newest first; what is gone altogether never happened.
  void Remove(const Whole& cost, const Whole& at) override {
    Forget(at);
    Whole left = cost;
    while (!log_.empty() && left > 0 && log_.back().at <= at) {
      const Whole back = std::min(left, log_.back().permits);
      left -= back;
      log_.back().permits -= back;
      if (log_.back().permits > 0) continue;
      log_.pop_back();
      last_.reset();
      if (!log_.empty()) last_ = log_.back().at;
    }
  }
  void Refuse(const Whole& cost, const Whole& at) override {
    if (denied_ == Denied::kCounted && at >= LastInLine()) Add(cost, at);
  }
  void Inherit(const SlidingLog& old, const Whole& at) {
    log_ = old.log_;
    std::erase_if(log_, [&](const Entry& entry) { return entry.at + old.period_ <= at; });
    last_ = old.last_;
  }

 private:
  struct Entry {
    Whole at;
    Whole permits;
  };

  void Forget(const Whole& at) {
    std::erase_if(log_, [&](const Entry& entry) { return entry.at + period_ <= at; });
  }

  Whole period_;
  Whole min_gap_;
  Denied denied_;
  std::vector<Entry> log_;
  std::optional<Whole> last_;  // the newest request, in view or not
};

}  // namespace weir::reference
