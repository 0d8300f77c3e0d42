// A server of the admin API for tests, on a real socket: with rules in a database, in a database
// that cannot be reached, or in files.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "catalog/database_source.h"
#include "catalog/file_source.h"
#include "catalog/retriever.h"
#include "catalog/rule_store.h"
#include "frontend/admin_session.h"
#include "net/server.h"
#include "service/checker.h"
#include "service/rules_service.h"
#include "tests/http_client.h"
#include "tests/temporary_file.h"

namespace weir {

// Tokens that are the names of their roles.
class FixedAccess final : public Access {
 public:
  [[nodiscard]] Caller Identify(std::string_view token) const override {
    if (token == "viewer") return {"vera", Role::kViewer};
    if (token == "editor") return {"ed", Role::kEditor};
    if (token == "admin") return {"ada", Role::kAdmin};
    return {};
  }
};

class MemoryAudit final : public Audit {
 public:
  std::optional<Error> Record(const AuditEntry& entry) override {
    const std::lock_guard lock(mutex_);
    if (is_full) return Error{"the disk is full"};
    lines_.insert(lines_.begin(), R"({"who":")" + entry.who + R"(","action":")" + entry.action +
                                      R"(","what":")" + entry.what + R"("})");
    return std::nullopt;
  }
  [[nodiscard]] std::vector<std::string> Latest(std::size_t count) const override {
    const std::lock_guard lock(mutex_);
    return {lines_.begin(),
            lines_.begin() + static_cast<std::ptrdiff_t>(std::min(count, lines_.size()))};
  }

  std::atomic<bool> is_full{false};

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
};

// A database that nobody can reach.
class FailingStore final : public catalog::RuleStore {
 public:
  Result<catalog::Revision> Latest() override { return kError; }
  Result<std::vector<catalog::StoredRule>> List(std::optional<std::string_view> /*s*/) override {
    return kError;
  }
  Result<Everything> ReadAll() override { return kError; }
  Result<std::optional<catalog::StoredRule>> Get(std::string_view /*s*/,
                                                 std::string_view /*n*/) override {
    return kError;
  }
  Result<std::vector<catalog::Change>> History(std::string_view /*s*/, std::string_view /*n*/,
                                               int /*most*/) override {
    return kError;
  }
  catalog::StoreResult<catalog::Revision> Apply(const std::vector<catalog::Edit>& /*e*/,
                                                const catalog::Authorship& /*by*/) override {
    return kError;
  }
  catalog::StoreResult<catalog::Revision> Rollback(std::string_view /*s*/, std::string_view /*n*/,
                                                   catalog::Revision /*to*/,
                                                   const catalog::Authorship& /*by*/) override {
    return kError;
  }
  Result<bool> WaitForChange(std::chrono::milliseconds /*t*/) override { return kError; }
  void Wake() override {}

 private:
  inline static const Error kError{"the database is away"};
};

class AdminHarness {
 public:
  enum class Kept : std::uint8_t { kDatabase, kAway, kFiles };

  // `rules` are of the namespace `shop`, at the revisions from 1 on.
  AdminHarness(Kept kept, const std::string& rules)
      : checker_(std::move(Ledger::Open({.max_keys = 10'000})).value(), {}) {
    const std::string text = "namespace: shop\nrules:\n" + rules;
    std::unique_ptr<catalog::RuleSource> source;
    if (kept == Kept::kDatabase) {
      rules_ = std::make_unique<RulesService>(OpenStore());
      const auto imported = rules_->Import({{"test.yaml", text}}, {"test", "to begin with"});
      EXPECT_TRUE(std::holds_alternative<Applied>(imported));
      source = std::move(*catalog::DatabaseSource::Of(url()));
    } else {
      std::ofstream(file_.path() + ".yaml") << text;
      source = std::make_unique<catalog::FileSource>(file_.path() + ".yaml");
      if (kept == Kept::kAway) {
        rules_ = std::make_unique<RulesService>(std::make_unique<FailingStore>());
      }
    }
    retriever_ = std::make_unique<catalog::Retriever>(
        std::move(source), catalog::RetrieverOptions{},
        [this](std::vector<rule::RuleSet> sets, const std::string& version) {
          return checker_.Publish(std::move(sets), version);
        });
    retriever_->Start();
    parts_.checker = &checker_;
    parts_.access = &access_;
    parts_.audit = &audit_;
    parts_.rules = rules_.get();
    parts_.files = file_.path() + ".yaml";
    parts_.look_now = [this] { return retriever_->LookNow(std::chrono::seconds(20)); };
    parts_.status.checker = &checker_;
    parts_.status.version = "9.9";
    parts_.status.retriever = [this] { return retriever_->status(); };
    parts_.status.started =
        std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
    parts_.status.connections = [] { return net::Totals{}; };
    parts_.listeners = [] {
      return std::vector<std::pair<std::string, std::string>>{{"http", "127.0.0.1:8080"}};
    };
    std::vector<net::ListenerOptions> listeners(1);
    listeners[0] = {.address = "127.0.0.1:0", .handlers = AdminHandlers(parts_)};
    server_ = std::move(*net::Server::Start({}, std::move(listeners)));
    client_.emplace(address());
  }

  [[nodiscard]] std::string address() const { return server_->endpoints().front().ToString(); }
  [[nodiscard]] std::string url() const { return file_.path() + ".db"; }
  [[nodiscard]] std::unique_ptr<catalog::RuleStore> OpenStore() const {
    return std::move(*catalog::RuleStore::Open(url()));
  }
  Checker& checker() { return checker_; }
  MemoryAudit& audit() { return audit_; }

  // On one connection. `token` is a role; empty: none is sent.
  HttpAnswer Ask(std::string_view token, HttpAsk ask) {
    if (!token.empty()) ask.fields.emplace_back("Authorization", "Bearer " + std::string(token));
    return client_->Ask(ask);
  }
  // On a connection of its own, for what the server closes it after.
  HttpAnswer AskOnce(std::string_view bytes) const {
    HttpClient client(address());
    client.Send(bytes);
    return client.Receive();
  }

 private:
  TemporaryFile file_;
  FixedAccess access_;
  MemoryAudit audit_;
  Checker checker_;
  std::unique_ptr<RulesService> rules_;
  std::unique_ptr<catalog::Retriever> retriever_;
  AdminParts parts_;
  std::unique_ptr<net::Server> server_;
  std::optional<HttpClient> client_;
};

}  // namespace weir
