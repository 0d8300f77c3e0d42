// Hosts of a cluster in one thread and in virtual time: each with a checker of its own, all with
// the same rules and the same stores.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "net/loop.h"
#include "rule/rule_file.h"
#include "service/checker.h"
#include "service/cluster.h"
#include "tests/late_stores.h"

namespace weir {

class ClusterHarness {
 public:
  // One of the hosts, and a client of it that waits.
  struct Host final : CheckWaiter {
    explicit Host(ClusterHarness& all, std::uint64_t seed)
        : authority(all.authority_),
          store(all.store_),
          cluster(all.loop_, authority, store,
                  {.seed = seed, .when_cut_off = [this](bool is) { cut_off.push_back(is); }}),
          checker(std::move(Ledger::Open({.max_keys = 10'000})).value(), {.has_cluster = true}) {}
    void OnSettled() override { ++told; }

    authority::LateAuthority authority;
    authority::LateSwapStore store;
    Cluster cluster;
    Checker checker;
    int told = 0;
    std::vector<bool> cut_off;  // each time that this changed
  };

  // The rules of the namespace `shop`, as YAML.
  ClusterHarness(std::size_t hosts, const std::string& rules) {
    for (std::size_t i = 0; i < hosts; ++i) hosts_.push_back(std::make_unique<Host>(*this, i + 1));
    Use(rules);
  }

  void Use(const std::string& rules) {
    rule::Problems problems;
    const auto set = rule::ReadRules("namespace: shop\nrules:\n" + rules, "test.yaml", problems);
    for (const auto& problem : problems) ADD_FAILURE() << problem.ToString();
    for (const auto& host : hosts_) {
      for (const auto& problem : host->checker.Publish({*set}, "test")) {
        ADD_FAILURE() << problem.ToString();
      }
    }
  }

  Host& operator[](std::size_t host) { return *hosts_[host]; }
  [[nodiscard]] Instant now() const { return now_; }
  net::Loop& loop() { return loop_; }

  // Turns of the loop until nothing is left to do now.
  void Settle() {
    for (int i = 0; i < 20; ++i) loop_.Turn(Nanos(0));
  }
  void Advance(Nanos time) {
    now_ += time;
    Settle();
  }

  // Asks a host, and lets it have its answers if they are not late.
  void Check(std::size_t host, const std::vector<rule::Attribute>& attributes, CheckReply& reply,
             CheckRequest::Intent intent = CheckRequest::Intent::kTake) {
    Host& at = *hosts_[host];
    reply.Join(at.cluster, at);
    const CheckRequest request{
        .space = "shop", .attributes = attributes, .cost = {}, .intent = intent};
    at.checker.Check(request, now_, reply);
    Settle();
    if (!reply.is_waiting()) at.checker.Check(request, now_, reply);
  }
  bool Allows(std::size_t host, const std::vector<rule::Attribute>& attributes) {
    CheckReply reply;
    Check(host, attributes, reply);
    EXPECT_FALSE(reply.is_waiting());
    return reply.allowed();
  }

 private:
  // On a whole epoch, so that leases do not end by chance.
  Instant now_{std::chrono::seconds(1'780'315'200)};
  net::Loop loop_{[this] { return now_; }};
  authority::LocalAuthority authority_{[this] {
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::microseconds>(now_.time_since_epoch()).count());
  }};
  authority::LocalSwapStore store_{[this] { return now_; }};
  std::vector<std::unique_ptr<Host>> hosts_;
};

}  // namespace weir
