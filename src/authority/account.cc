#include "authority/account.h"

#include <algorithm>
#include <utility>

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

  void Convert() {
    const std::uint64_t then = std::exchange(account_.per_permit, terms_.ticks_per_permit);
    if (then != 0 && then != terms_.ticks_per_permit) {
      const std::uint64_t whole = std::min(account_.used / then, MostUsed());
      const Uint128 part =
          CeilDiv(Mul(account_.used % then, terms_.ticks_per_permit), Uint128{then});
      account_.used = whole * terms_.ticks_per_permit + Saturate(part);
    }
    account_.used = std::min(account_.used, MostUsed() * terms_.ticks_per_permit);
    account_.reserved = std::min(account_.reserved, MostReserved());
    account_.reserved_before = std::min(account_.reserved_before, MostReserved());
  }

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
    const bool is_comparable =
        std::exchange(account_.epoch_length, Count(terms_.epoch)) == Count(terms_.epoch);
    if (is_comparable && epoch == account_.epoch) return;
    const bool is_next = is_comparable && epoch == account_.epoch + 1;
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
      Keep(request.kept);
    }
    Use(request.debt);
    return is_known || held == 0;
  }

  void Refund(std::uint64_t permits) {
    const std::uint64_t ticks = std::min(permits, MostUsed()) * terms_.ticks_per_permit;
    const std::uint64_t undone = std::min(account_.used, ticks);
    account_.used -= undone;
    leaks_.overflow += permits * terms_.ticks_per_permit - undone;
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

  // How many of the takes there was enough for.
  std::uint64_t Take(std::uint64_t permits, std::uint64_t times) {
    const std::uint64_t ticks = permits * terms_.ticks_per_permit;
    const std::uint64_t taken = std::min(times, SatSub(terms_.capacity(), Gone()) / ticks);
    account_.used += taken * ticks;
    return taken;
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

  // In permits.
  [[nodiscard]] std::uint64_t MostUsed() const { return terms_.burst + terms_.max_debt; }
  // Of one epoch. An account that was lost is given away twice: by its old hosts and by the new.
  [[nodiscard]] std::uint64_t MostReserved() const { return 4 * terms_.burst; }

  void Use(std::uint64_t permits) {
    const std::uint64_t most = MostUsed() * terms_.ticks_per_permit;
    const std::uint64_t sum =
        account_.used + std::min(permits, MostUsed()) * terms_.ticks_per_permit;
    leaks_.forgiven += account_.used + permits * terms_.ticks_per_permit - std::min(sum, most);
    account_.used = std::min(sum, most);
  }
  void Keep(std::uint64_t permits) {
    const std::uint64_t sum = account_.reserved + permits;
    account_.reserved = std::min(sum, MostReserved());
    leaks_.forgiven += (sum - account_.reserved) * terms_.ticks_per_permit;
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
  execution.Convert();
  execution.Pass(now);
  execution.Turn(now);
  reply.renewed = execution.Report(request);
  execution.Refund(request.refund);
  reply.share = execution.Share(request);
  if (request.take != 0) reply.taken = execution.Take(request.take, request.times);
  const bool is_refused = request.take != 0 && reply.taken < request.times;
  if (request.wanted != 0) execution.Give(request, is_refused, reply);
  const bool is_in_want = request.wanted != 0 && request.take == 0;
  if ((is_refused || is_in_want) && reply.grant + reply.lease == 0) {
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
