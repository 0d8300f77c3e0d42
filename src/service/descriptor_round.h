// One check by descriptors, on its way from the request to the reply. A part of descriptor_check.h,
// for its own use.
//
//   descriptor_check.cc    the way, what this host counts, and what is said
//   descriptor_shared.cc   what a cluster counts
//   descriptor_after.cc    who is banned, what is counted and watched
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "service/descriptor_check.h"

namespace weir {

class DescriptorChecker::Round {
 public:
  Round(Checker& checker, const DescriptorOptions& options, const DescriptorRequest& request,
        Instant now, DescriptorReply& reply)
      : checker_(checker),
        ledger_(checker.ledger()),
        options_(options),
        request_(request),
        now_(now),
        reply_(reply),
        active_(**reply.rules_),
        space_(*reply.space_) {}

  // As far as it gets without waiting.
  void Run();

 private:
  using Pending = DescriptorReply::Pending;
  using Step = DescriptorReply::Step;
  struct Hits {
    std::uint64_t count;
    HitsAre are;
  };
  // What one limit of a descriptor said, as its status would put it.
  struct Said {
    bool over;
    ToldLimit limit;
    std::uint32_t remaining;
    std::optional<Nanos> until_reset;
  };

  [[nodiscard]] Hits HitsOf(std::uint32_t number) const;

  // --- descriptor_check.cc
  void Begin();
  void FindRules();
  void CountOverride(std::uint32_t number);
  // Finds out at once what can be; what has to be taken together is put aside.
  void Ask(std::uint32_t number);
  void AskLimit(std::uint32_t number, std::size_t place, bool enforced);
  Tally CountHits(const CountingWindow& window, KeyHash key, std::uint32_t number);
  void TakeEnforced();
  void ConcludeEnforced();
  void Look(std::span<const Pending> pending, bool enforced);
  bool Take(std::span<const Pending> pending, std::vector<Reservation>& taken);
  void SayTaken(std::span<const Pending> pending, std::span<const Reservation> taken,
                bool enforced);
  void TakeShadow();
  [[nodiscard]] ToldLimit ToldOf(std::uint32_t limit, std::uint32_t number) const;
  static Said InWindow(const Tally& tally, std::uint64_t threshold, const ToldLimit& told);
  [[nodiscard]] Said InDecision(const Decision& decision, std::uint32_t limit,
                                std::uint32_t number) const;
  static bool Outweighs(const Said& said, const DescriptorStatus& status, bool was_over);
  void Say(std::uint32_t number, bool enforced, const Said& said);
  [[nodiscard]] bool IsRefused() const;
  void Judge();

  // --- descriptor_shared.cc
  [[nodiscard]] bool has_cluster() const { return reply_.shared_.cluster != nullptr; }
  [[nodiscard]] bool IsShared(const rule::CompiledRule& rule) const {
    return has_cluster() && rule.rule->sharing != rule::Sharing::kNone;
  }
  void KeepValues(const DescriptorAsk& ask, const rule::CompiledRule* rule);
  [[nodiscard]] std::span<const std::string_view> ValuesOf(std::uint32_t number) const;
  void ShareOverride(std::uint32_t number, const CountingWindow& window);
  void ShareLimit(std::uint32_t number, std::size_t place, bool enforced);
  void ShareAlone(SharedAsk ask, DescriptorReply::Shared::Purpose purpose);
  void AskCluster(SharedAsks& asks, Cluster::Intent intent) {
    if (asks.empty()) return;
    reply_.shared_.cluster->Ask(asks, intent, *reply_.shared_.waiter);
  }
  void SayShared(const SharedAsks& asks) {
    if (!asks.empty()) SayEach(asks);
  }
  void SayEach(const SharedAsks& asks);
  [[nodiscard]] Said InSharedWindow(const SharedAsk& ask, std::uint32_t number,
                                    std::uint32_t limit) const;
  [[nodiscard]] bool IsDeniedByCluster(std::uint32_t number) const;

  // --- descriptor_after.cc
  [[nodiscard]] Ledger::Ask BanOf(const rule::CompiledRule& rule, KeyHash key) const;
  bool IsBanned(const rule::CompiledRule& rule, KeyHash key, std::uint32_t number, bool enforced);
  void Ban(std::uint32_t number);
  [[nodiscard]] bool StaysOver(std::uint32_t number, std::uint64_t hits);
  void CountOutcomes() const;
  // Adds the decision to what is watched.
  void Show() const;
  [[nodiscard]] std::string ShownLimit(const rule::CompiledRule& rule) const;

  Checker& checker_;
  Ledger& ledger_;
  const DescriptorOptions& options_;
  const DescriptorRequest& request_;
  const Instant now_;
  DescriptorReply& reply_;
  const ActiveRules& active_;
  const rule::Space& space_;
};

}  // namespace weir
