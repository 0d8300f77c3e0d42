// What the rules have said, counted: for metrics, at the cost of a few instructions.
//
// A rule is known by its namespace and its name. Rules that are replaced go on counting where those
// of the same name were, so nothing is lost when rules change. When the last rulebook with a rule
// is gone, so is its count: the same name then begins at zero, as after a restart. There are as
// many counters as there are rules; nothing that clients send adds one.
//
// Thread safety: everything may be called by any number of threads. Counting never waits; Enter()
// and the end of a lease may, for each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/core_counters.h"
#include "rule/rulebook.h"

namespace weir {

// What a rule said to a request that it had a say in. From good to bad: if a rule has several
// limits, the worst is its word.
enum class RuleOutcome : std::uint8_t {
  kAllowed,
  kElastic,       // above the limit, but there was room
  kShadowDenied,  // a rule in shadow would have refused it
  kDelayed,       // allowed, at a later time
  kDenied,        // also by `blocked`, and the refusal that begins a ban
  kBanned,        // refused because a ban was in force
};
inline constexpr std::size_t kRuleOutcomes = static_cast<std::size_t>(RuleOutcome::kBanned) + 1;
std::string_view NameOf(RuleOutcome outcome);

// What became of a request under the rules of its namespace.
enum class RequestOutcome : std::uint8_t {
  kAllowed,
  kDelayed,
  kDenied,
  kUnmatched,  // allowed, because no rule had a say
};
inline constexpr std::size_t kRequestOutcomes =
    static_cast<std::size_t>(RequestOutcome::kUnmatched) + 1;
std::string_view NameOf(RequestOutcome outcome);

class RuleCounters {
 private:
  // A namespace and a rule of it; a namespace itself stands there without one.
  using Name = std::pair<std::string, std::optional<std::string>>;
  // A line of counters, and what others had counted there before. Counters have one writer each, so
  // nobody can set them back to zero.
  struct Place {
    std::uint32_t number = 0;
    CoreCounters::Sums before{};
  };
  struct Entry {
    Place place;
    std::size_t leases = 0;
  };
  using Entries = std::map<Name, Entry>;

 public:
  using Sums = CoreCounters::Sums;

  // The counters of one rulebook; they are given back with it. Must not outlive the RuleCounters.
  class Lease {
   public:
    Lease() = default;
    Lease(Lease&& other) noexcept { *this = std::move(other); }
    Lease& operator=(Lease&& other) noexcept;
    ~Lease();

    // REQUIRES, of all: the rule, or the namespace, is of the rulebook this is for.
    void Count(const rule::CompiledRule& rule, RuleOutcome outcome) const noexcept {
      owner_->counters_.Add(rules_[rule.number], static_cast<std::size_t>(outcome));
    }
    void Count(const rule::Space& space, RequestOutcome outcome) const noexcept {
      owner_->counters_.Add(spaces_[space.number()], static_cast<std::size_t>(outcome));
    }
    // Where this thread counts that, for who counts it again and again (CoreCounters::CellOf).
    [[nodiscard]] CoreCounters::Cell* CellOf(const rule::CompiledRule& rule,
                                             RuleOutcome outcome) const noexcept {
      return owner_->counters_.CellOf(rules_[rule.number], static_cast<std::size_t>(outcome));
    }
    [[nodiscard]] CoreCounters::Cell* CellOf(const rule::Space& space,
                                             RequestOutcome outcome) const noexcept {
      return owner_->counters_.CellOf(spaces_[space.number()], static_cast<std::size_t>(outcome));
    }
    // By outcome.
    [[nodiscard]] Sums Read(const rule::CompiledRule& rule) const noexcept;
    [[nodiscard]] Sums Read(const rule::Space& space) const noexcept;

   private:
    friend class RuleCounters;
    RuleCounters* owner_ = nullptr;
    std::vector<CoreCounters::Line> rules_;   // by their numbers in the book
    std::vector<CoreCounters::Line> spaces_;  // likewise
    std::vector<Entries::iterator> entries_;  // of the rules, then of the namespaces
  };

  RuleCounters() = default;
  RuleCounters(const RuleCounters&) = delete;
  RuleCounters& operator=(const RuleCounters&) = delete;

  [[nodiscard]] Lease Enter(const rule::Rulebook& book);

  // Requests that no rulebook is asked for: of a namespace that nobody knows, and of keys whose
  // limit comes with the request.
  void CountUnknownSpace() noexcept { counters_.Add(kOthers, kUnknownSpace); }
  void CountCell(bool allowed) noexcept {
    counters_.Add(kOthers, allowed ? kCellAllowed : kCellDenied);
  }
  struct Others {
    std::uint64_t unknown_space;
    std::uint64_t cells_allowed;
    std::uint64_t cells_denied;
  };
  [[nodiscard]] Others ReadOthers() const noexcept;

  // Lines that were ever in use at a time, for tests of the bound.
  [[nodiscard]] std::size_t lines() const;

 private:
  static constexpr CoreCounters::Line kOthers = CoreCounters::LineOf(0);
  enum OtherColumn : std::uint8_t { kUnknownSpace, kCellAllowed, kCellDenied };

  Entries::iterator Take(Name name);
  void Release(Entries::iterator entry);
  [[nodiscard]] Sums Read(const Place& place) const noexcept;

  CoreCounters counters_;
  mutable std::mutex mutex_;
  Entries entries_;            // guarded by mutex_, but for the places: these do not change
  std::vector<Place> unused_;  // guarded by mutex_
  std::uint32_t fresh_ = 1;    // guarded by mutex_: the first line that nobody ever had
};

}  // namespace weir
