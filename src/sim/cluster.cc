#include "sim/cluster.h"

#include <algorithm>
#include <string>
#include <utility>

#include "sim/chance.h"

namespace weir::sim {

using authority::Answer;
using authority::LocalAuthority;
using authority::LocalDecision;
using authority::Outcome;
using authority::SyncReply;
using authority::SyncRequest;

namespace {

const std::string kKey = "key";

class OneReply final : public authority::Replies {
 public:
  void OnReply(authority::Ticket /*ticket*/, const SyncReply& reply) override { reply_ = reply; }
  [[nodiscard]] const SyncReply& reply() const { return reply_; }

 private:
  SyncReply reply_;
};

authority::HostOptions OptionsFor(const ClusterOptions& options, int host) {
  authority::HostOptions of_host;
  of_host.seed = options.seed * 1000 + static_cast<std::uint64_t>(host);
  return of_host;
}

}  // namespace

struct Cluster::Node {
  explicit Node(const authority::HostOptions& options) : host(options) {}

  authority::Host host;
  authority::HostKey* key = nullptr;
  std::unordered_map<RequestId, std::uint64_t> waiting;  // and what each of them costs
  Nanos clock{};                                         // its clock says this more than ours
  Instant paused_until{};
  std::uint64_t admitted = 0;  // permits that can be given back
  bool is_ticking = false;
};

struct Cluster::Message {
  SyncRequest request;
  SyncReply reply;
  bool is_executed = false;
  bool is_over = false;  // its host has an answer, or has given up
};

Cluster::Cluster(Events& events, const ClusterOptions& options, OnDecided on_decided)
    : events_(events),
      options_(options),
      on_decided_(std::move(on_decided)),
      network_(events, options.hosts, options.one_way, options.seed),
      // No two clocks agree, and none starts at zero.
      authority_clock_(std::chrono::hours(400'000)) {
  Chance chance(options.seed + 1);
  for (int i = 0; i < options.hosts; ++i) {
    nodes_.push_back(std::make_unique<Node>(OptionsFor(options, i)));
    nodes_.back()->key = &nodes_.back()->host.Find(kKey, options.policy);
    nodes_.back()->clock = std::chrono::seconds(1'000'000 + chance.Below(1'000'000));
  }
  StartAuthority();
}

Cluster::~Cluster() = default;

void Cluster::Arrive(RequestId id, int host, std::uint64_t cost) {
  Node& node = *nodes_[host];
  if (events_.now() < node.paused_until) {
    events_.At(node.paused_until, [this, id, host, cost] { Arrive(id, host, cost); });
    return;
  }
  Ask(id, host, cost);
  Flush(host);
}

void Cluster::Rush(RequestId first, std::uint64_t count, int host) {
  if (events_.now() < nodes_[host]->paused_until) {
    events_.At(nodes_[host]->paused_until,
               [this, first, count, host] { Rush(first, count, host); });
    return;
  }
  for (std::uint64_t i = 0; i < count; ++i) Ask(first + i, host, 1);
  Flush(host);
}

void Cluster::Refund(int host, std::uint64_t permits) {
  Node& node = *nodes_[host];
  if (events_.now() < node.paused_until) return;
  permits = std::min(permits, node.admitted);
  if (permits == 0) return;
  node.admitted -= permits;
  admitted_ -= permits;
  node.host.Refund(*node.key, permits, HostTime(host));
  Flush(host);
}

void Cluster::Ask(RequestId id, int host, std::uint64_t cost) {
  Node& node = *nodes_[host];
  const LocalDecision decision = node.host.Ask(*node.key, cost, id, HostTime(host));
  if (decision.answer == Answer::kAsk) {
    node.waiting.emplace(id, cost);
  } else {
    Decide(id, host, cost, decision);
  }
}

void Cluster::Decide(RequestId id, int host, std::uint64_t cost, const LocalDecision& decision) {
  const bool is_admitted = decision.answer == Answer::kAllow;
  if (is_admitted) {
    admitted_ += cost;
    nodes_[host]->admitted += cost;
  }
  on_decided_(id, is_admitted);
}

void Cluster::Flush(int host) {
  Node& node = *nodes_[host];
  if (node.host.has_requests()) {
    for (SyncRequest& request : node.host.TakeRequests()) {
      const auto message = std::make_shared<Message>();
      message->request = request;
      open_.insert(message);
      ++records_;
      network_.ToAuthority(host, [this, host, message] { Deliver(host, message); });
      events_.In(options_.answer_timeout,
                 [this, host, message] { Tell(host, message, {.outcome = Outcome::kUnknown}); });
    }
  }
  if (!node.is_ticking && !node.host.is_quiet()) {
    node.is_ticking = true;
    const Nanos pause =
        std::max<Nanos>(std::chrono::milliseconds(1), Nanos(options_.policy.terms.interval) / 8);
    events_.In(pause, [this, host] { Tick(host); });
  }
}

void Cluster::Tick(int host) {
  Node& node = *nodes_[host];
  if (events_.now() < node.paused_until) {
    events_.At(node.paused_until, [this, host] { Tick(host); });
    return;
  }
  node.is_ticking = false;
  node.host.Tick(HostTime(host));
  Settle(host, Outcome::kUnknown);  // those whose time was over
  Flush(host);
}

void Cluster::Deliver(int host, const std::shared_ptr<Message>& message) {
  ++records_;
  if (authority_ == nullptr) {
    network_.ToHost(host,
                    [this, host, message] { Tell(host, message, {.outcome = Outcome::kNotDone}); });
    return;
  }
  Execute(*message);
  network_.ToHost(host, [this, host, message] { Tell(host, message, message->reply); });
}

void Cluster::Execute(Message& message) {
  OneReply reply;
  authority_->Sync({&message.request, 1}, reply);
  message.reply = reply.reply();
  message.is_executed = true;
  if (!message.reply.renewed) wasted_ += message.request.returned;
  if (!message.is_over) return;
  // Its host has given up meanwhile: what it told was not told in vain, after all, but what it gets
  // reaches nobody.
  if (message.reply.renewed) wasted_ -= message.request.returned;
  wasted_ -= message.request.refund;
  unpaid_ -= message.request.debt;
  wasted_ += Given(message);
}

void Cluster::Tell(int host, const std::shared_ptr<Message>& message, const SyncReply& reply) {
  if (message->is_over) return;
  Node& node = *nodes_[host];
  if (events_.now() < node.paused_until) {
    events_.At(node.paused_until, [this, host, message, reply] { Tell(host, message, reply); });
    return;
  }
  message->is_over = true;
  open_.erase(message);
  if (reply.outcome == Outcome::kUnknown) {
    if (message->is_executed) {
      wasted_ += Given(*message);
    } else {
      wasted_ += message->request.returned + message->request.refund;
      unpaid_ += message->request.debt;
    }
  }
  node.host.OnReply(message->request.ticket, reply, HostTime(host));
  // A permit that was taken for a request that has an answer already is nobody's.
  const bool is_late = node.host.has_settled() ? false : message->request.take != 0;
  if (is_late && reply.outcome == Outcome::kDone) wasted_ += reply.taken * message->request.take;
  Settle(host, reply.outcome);
  Flush(host);
}

void Cluster::Settle(int host, Outcome outcome) {
  Node& node = *nodes_[host];
  if (!node.host.has_settled()) return;
  for (const authority::Settled& settled : node.host.TakeSettled()) {
    const auto found = node.waiting.find(settled.waiter);
    const std::uint64_t cost = found->second;
    node.waiting.erase(found);
    const bool is_admitted = settled.decision.answer == Answer::kAllow;
    if (is_admitted && outcome == Outcome::kUnknown) unpaid_ += cost;
    Decide(settled.waiter, host, cost, settled.decision);
  }
}

void Cluster::PauseHost(int host, Nanos time) {
  nodes_[host]->paused_until = std::max(nodes_[host]->paused_until, events_.now() + time);
}

void Cluster::KillAuthority() {
  if (authority_ == nullptr) return;
  const Audit before = Count();
  leaks_before_ = Sum(leaks_before_, authority_->leaks());
  authority_.reset();
  forgotten_ += Count().tokens - before.tokens;
}

void Cluster::StartAuthority() {
  if (authority_ != nullptr) return;
  authority_ = std::make_unique<LocalAuthority>([this] {
    return static_cast<std::uint64_t>(
        std::chrono::floor<authority::Micros>(events_.now().time_since_epoch() + authority_clock_)
            .count());
  });
}

std::uint64_t Cluster::Given(const Message& message) {
  const SyncReply& reply = message.reply;
  return reply.grant + reply.lease + reply.taken * message.request.take;
}

authority::Leaks Cluster::Sum(authority::Leaks a, const authority::Leaks& b) {
  a.flowed += b.flowed;
  a.overflow += b.overflow;
  a.forgiven += b.forgiven;
  a.expired += b.expired;
  a.unbacked += b.unbacked;
  return a;
}

Audit Cluster::Count() const {
  const authority::Terms& terms = options_.policy.terms;
  const auto ticks = [&](std::uint64_t permits) {
    return static_cast<std::int64_t>(permits * terms.ticks_per_permit);
  };
  const authority::Account account = authority_ ? authority_->Find(kKey) : authority::Account{};
  const authority::Leaks leaks =
      authority_ ? Sum(leaks_before_, authority_->leaks()) : leaks_before_;

  Audit audit;
  audit.burst = static_cast<std::int64_t>(terms.capacity());
  audit.flowed = static_cast<std::int64_t>(leaks.flowed);
  audit.overflow = static_cast<std::int64_t>(leaks.overflow);
  audit.tokens = audit.burst - static_cast<std::int64_t>(account.used) -
                 ticks(account.reserved + account.reserved_before);
  audit.admitted = ticks(admitted_);
  audit.wasted = ticks(wasted_) + static_cast<std::int64_t>(leaks.unbacked);
  audit.unpaid = ticks(unpaid_) + static_cast<std::int64_t>(leaks.forgiven) + forgotten_;
  for (const auto& node : nodes_) {
    const authority::HostKey& key = *node->key;
    audit.held += ticks(key.reservation().at_hand() + key.orphaned() + key.refund());
    audit.debt += ticks(key.debt());
    audit.wasted += ticks(key.wasted());
    audit.unpaid += ticks(key.forgiven());
  }
  for (const auto& message : open_) {
    if (message->is_executed) {
      audit.held += ticks(Given(*message));
    } else {
      audit.held += ticks(message->request.returned + message->request.refund);
      audit.debt += ticks(message->request.debt);
    }
  }
  return audit;
}

const authority::HostKey& Cluster::key(int host) const { return *nodes_[host]->key; }
const authority::Breaker& Cluster::breaker(int host) const { return nodes_[host]->host.breaker(); }

Instant Cluster::HostTime(int host) const { return events_.now() + nodes_[host]->clock; }

}  // namespace weir::sim
