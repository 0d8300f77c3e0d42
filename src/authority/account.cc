#include "authority/account.h"

#include <algorithm>

#include "base/check.h"
#include "base/wide_math.h"

namespace weir::authority {
namespace {

constexpr std::uint64_t Count(Micros time) { return static_cast<std::uint64_t>(time.count()); }

// The account of one key while one request is executed.
class Execution {
 public:
  Execution(const Terms& terms, Account& account, Leaks& leaks)
      : terms_(terms), account_(account), leaks_(leaks) {}

  void Pass(std::uint64_t now) {
    const std::uint64_t passed = SatSub(now, account_.at);
    const std::uint64_t flowed = Saturate(Mul(passed, terms_.ticks_per_micro));
    const std::uint64_t drained = std::min(account_.used, flowed);
    account_.used -= drained;
    account_.at = now;
    leaks_.flowed += flowed;
    leaks_.overflow += flowed - drained;
  }

  void Turn(std::uint64_t now) {
    const std::uint64_t epoch = now / Count(terms_.epoch);
    phase_ = now % Count(terms_.epoch);
    if (epoch == account_.epoch) return;
    const bool is_next = epoch == account_.epoch + 1;
    Expire(account_.reserved_before);
    if (!is_next) Expire(account_.reserved);
    account_.reserved_before = is_next ? account_.reserved : 0;
    account_.demand_before = is_next ? account_.demand : 0;
    account_.reserved = 0;
    account_.demand = 0;
    account_.epoch = epoch;
  }

  // Whether what the host keeps still counts.
  bool Report(const SyncRequest& request) {
    const std::uint64_t held = request.spent + request.returned + request.kept;
    const bool is_known = request.epoch == account_.epoch || request.epoch + 1 == account_.epoch;
    if (is_known) {
      std::uint64_t& from =
          request.epoch == account_.epoch ? account_.reserved : account_.reserved_before;
      // An authority that lost its memory has less reserved than its hosts hold.
      const std::uint64_t backed = std::min(from, held);
      leaks_.unbacked += (held - backed) * terms_.ticks_per_permit;
      from -= backed;
      Use(request.spent);
      account_.reserved += request.kept;
    }
    Use(std::min(request.debt, terms_.burst + terms_.max_debt));
    return is_known || held == 0;
  }

  std::uint64_t Share(const SyncRequest& request) {
    account_.demand = std::min(account_.demand + request.demand, Account::kMostDemand);
    const std::uint64_t expected = std::min(request.expected, Account::kMostDemand);
    const std::uint64_t rest = Count(terms_.epoch) - phase_;
    const std::uint64_t lately =
        account_.demand + account_.demand_before * rest / Count(terms_.epoch);
    const std::uint64_t all = std::max({std::uint64_t{1}, expected, lately});
    return expected * Account::kMillion / all;
  }

  bool Take(std::uint64_t permits) {
    if (MissingFor(permits) != 0) return false;
    account_.used += permits * terms_.ticks_per_permit;
    return true;
  }

  // What is there goes to whom it is enough for; what is sold ahead, to everybody who wants it.
  void Give(const SyncRequest& request, bool is_refused, SyncReply& reply) {
    const std::int64_t tokens = Tokens();
    if (tokens >= 1 && !is_refused) {
      const auto there = static_cast<std::uint64_t>(tokens);
      reply.grant = std::min(request.wanted, std::max<std::uint64_t>(1, Part(there, reply.share)));
      account_.reserved += reply.grant;
    }
    const std::int64_t room = Tokens() + static_cast<std::int64_t>(terms_.presale);
    if (room < 1) return;
    const std::uint64_t share = SatSub(Part(terms_.presale, reply.share), request.kept);
    reply.lease = std::min({request.wanted - reply.grant, share, static_cast<std::uint64_t>(room)});
    account_.reserved += reply.lease;
    if (reply.lease != 0) reply.lease_for = terms_.horizon;
  }

  [[nodiscard]] Micros DenyFor(std::uint64_t permits) const {
    const std::uint64_t over = MissingFor(permits);
    const std::uint64_t flows = CeilDiv(std::min(over, account_.used), terms_.ticks_per_micro);
    const Micros wait(static_cast<std::int64_t>(flows));
    return over > account_.used ? std::max(wait, terms_.horizon) : wait;
  }

  // Whole permits in the bucket. Rounded down below zero too: what is owed is owed in full.
  [[nodiscard]] std::int64_t Tokens() const {
    const std::uint64_t gone = Gone();
    const std::uint64_t capacity = terms_.capacity();
    if (gone <= capacity) {
      return static_cast<std::int64_t>((capacity - gone) / terms_.ticks_per_permit);
    }
    return -static_cast<std::int64_t>(CeilDiv(gone - capacity, terms_.ticks_per_permit));
  }

 private:
  static std::uint64_t Part(std::uint64_t permits, std::uint64_t share) {
    return permits * share / Account::kMillion;
  }

  [[nodiscard]] std::uint64_t Gone() const {
    return account_.used + (account_.reserved + account_.reserved_before) * terms_.ticks_per_permit;
  }
  [[nodiscard]] std::uint64_t MissingFor(std::uint64_t permits) const {
    return SatSub(Gone() + permits * terms_.ticks_per_permit, terms_.capacity());
  }

  void Use(std::uint64_t permits) {
    const std::uint64_t most = terms_.capacity() + terms_.max_debt * terms_.ticks_per_permit;
    const std::uint64_t used = account_.used + permits * terms_.ticks_per_permit;
    account_.used = std::min(used, most);
    leaks_.forgiven += used - account_.used;
  }
  void Expire(std::uint64_t permits) {
    Use(permits);
    leaks_.expired += permits * terms_.ticks_per_permit;
  }

  const Terms& terms_;
  Account& account_;
  Leaks& leaks_;
  std::uint64_t phase_ = 0;  // microseconds of the epoch that have passed
};

}  // namespace

SyncReply Execute(const SyncRequest& request, Account& account, std::uint64_t now, Leaks* leaks) {
  const Terms& terms = *request.terms;
  WEIR_CHECK(request.take <= terms.burst);
  Leaks unread;
  Execution execution(terms, account, leaks != nullptr ? *leaks : unread);
  SyncReply reply;
  execution.Pass(now);
  execution.Turn(now);
  reply.renewed = execution.Report(request);
  reply.share = execution.Share(request);
  reply.taken = request.take != 0 && execution.Take(request.take);
  const bool is_refused = request.take != 0 && !reply.taken;
  if (request.wanted != 0) execution.Give(request, is_refused, reply);
  const bool asked = request.take != 0 || request.wanted != 0;
  if (asked && !reply.taken && reply.grant + reply.lease == 0) {
    reply.deny_for = execution.DenyFor(std::max<std::uint64_t>(1, request.take));
  }
  reply.epoch = account.epoch;
  reply.tokens = execution.Tokens();
  return reply;
}

Micros ForgottenIn(const Account& account, const Terms& terms) {
  const std::uint64_t ticks =
      account.used + (account.reserved + account.reserved_before) * terms.ticks_per_permit;
  return Micros(static_cast<std::int64_t>(CeilDiv(ticks, terms.ticks_per_micro))) + 2 * terms.epoch;
}

}  // namespace weir::authority
