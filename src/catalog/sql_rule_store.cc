#include "catalog/sql_rule_store.h"

#include <soci/soci.h>

#include <string>
#include <utility>

#include "catalog/edit_check.h"
#include "rule/utf8.h"

namespace weir::catalog {
namespace {

using Microseconds = std::chrono::microseconds;

std::chrono::sys_time<Microseconds> Now() {
  return std::chrono::floor<Microseconds>(std::chrono::system_clock::now());
}

// The rows of a query for rules, without what comes after its FROM.
constexpr char kSelectRules[] = "SELECT space, name, revision, text FROM weir_rules ";

std::vector<StoredRule> ReadRules(soci::details::prepare_temp_type query) {
  std::vector<StoredRule> rules;
  StoredRule rule;
  long long revision = 0;
  soci::statement rows = (query, soci::into(rule.space), soci::into(rule.name),
                          soci::into(revision), soci::into(rule.text));
  rows.execute();
  while (rows.fetch()) {
    rule.revision = revision;
    rules.push_back(rule);
  }
  return rules;
}

// Puts a rule or deletes it. Returns the revision of the rule's last change.
StoreResult<Revision> Make(const Edit& edit, RuleWriter& writer) {
  const std::optional<RuleWriter::State> state = writer.StateNow(edit.space, edit.name);
  const bool exists = state && state->text;
  const Revision in_force = exists ? state->revision : 0;
  if (edit.made_from && *edit.made_from != in_force) {
    return Conflict{edit.space, edit.name, *edit.made_from, in_force};
  }
  if (edit.text) {
    if (exists && state->text == edit.text) return in_force;
    writer.Put(edit.space, edit.name, *edit.text,
               exists ? std::optional(state->created) : std::nullopt);
    return writer.latest();
  }
  if (!exists) return state ? state->revision : Revision{0};
  writer.Delete(edit.space, edit.name, state->created);
  return writer.latest();
}

// As it was at `to`, and at its old place in the order.
void PutBack(const std::string& space, const std::string& name, Revision to, RuleWriter& writer) {
  const std::optional<RuleWriter::State> now = writer.StateNow(space, name);
  const std::optional<RuleWriter::State> then = writer.StateAt(space, name, to);
  if (then && then->text) {
    const bool same = now->text == then->text && now->created == then->created;
    if (!same) writer.Put(space, name, *then->text, then->created);
  } else if (now->text) {
    writer.Delete(space, name, now->created);
  }
}

// The rules of a namespace (or the one) that were changed after `to`, in the order of their names.
std::vector<std::string> ChangedSince(soci::session& session, const std::string& space,
                                      const std::string& name, Revision to) {
  if (!name.empty()) return {name};
  std::vector<std::string> names;
  std::string changed;
  const long long after = to;
  soci::statement rows = (session.prepare << "SELECT DISTINCT name FROM weir_changes WHERE "
                                             "space = :space AND revision > :after ORDER BY name",
                          soci::use(space), soci::use(after), soci::into(changed));
  rows.execute();
  while (rows.fetch()) names.push_back(changed);
  return names;
}

bool WasEverThere(soci::session& session, const std::string& space, const std::string& name) {
  long long changes = 0;
  if (name.empty()) {
    session << "SELECT count(*) FROM weir_changes WHERE space = :space", soci::use(space),
        soci::into(changes);
  } else {
    session << "SELECT count(*) FROM weir_changes WHERE space = :space AND name = :name",
        soci::use(space), soci::use(name), soci::into(changes);
  }
  return changes > 0;
}

}  // namespace

Result<Revision> SqlRuleStore::Latest() {
  return database_.Run("read the revision", [](soci::session& session) -> Revision {
    long long latest = 0;
    session << "SELECT latest FROM weir_revision", soci::into(latest);
    return latest;
  });
}

Result<std::vector<StoredRule>> SqlRuleStore::List(std::optional<std::string_view> space) {
  return database_.Run("read rules", [&](soci::session& session) {
    if (!space) {
      return ReadRules(session.prepare << kSelectRules << "ORDER BY space, created");
    }
    const std::string wanted(*space);
    return ReadRules((session.prepare << kSelectRules << "WHERE space = :space ORDER BY created",
                      soci::use(wanted)));
  });
}

Result<RuleStore::Everything> SqlRuleStore::ReadAll() {
  return database_.Run("read all rules", [](soci::session& session) {
    // One statement, so that all of it is of one moment. With no rules there is one row, with the
    // revision alone.
    Everything everything;
    StoredRule rule;
    long long latest = 0;
    long long revision = 0;
    soci::indicator has_space = soci::i_null;
    soci::indicator has_name = soci::i_null;
    soci::indicator has_revision = soci::i_null;
    soci::indicator has_text = soci::i_null;
    soci::statement rows =
        (session.prepare << "SELECT latest, space, name, revision, text FROM weir_revision "
                            "LEFT JOIN weir_rules ON 1 = 1 ORDER BY space, created",
         soci::into(latest), soci::into(rule.space, has_space), soci::into(rule.name, has_name),
         soci::into(revision, has_revision), soci::into(rule.text, has_text));
    rows.execute();
    while (rows.fetch()) {
      everything.revision = latest;
      if (has_name == soci::i_null) continue;
      rule.revision = revision;
      everything.rules.push_back(rule);
    }
    return everything;
  });
}

Result<std::optional<StoredRule>> SqlRuleStore::Get(std::string_view space, std::string_view name) {
  return database_.Run("read a rule", [&](soci::session& session) -> std::optional<StoredRule> {
    const std::string wanted_space(space);
    const std::string wanted_name(name);
    std::vector<StoredRule> rules =
        ReadRules((session.prepare << kSelectRules << "WHERE space = :space AND name = :name",
                   soci::use(wanted_space), soci::use(wanted_name)));
    if (rules.empty()) return std::nullopt;
    return std::move(rules.front());
  });
}

Result<std::vector<Change>> SqlRuleStore::History(std::string_view space, std::string_view name,
                                                  int most) {
  return database_.Run("read the history", [&](soci::session& session) {
    const std::string wanted_space(space);
    const std::string wanted_name(name);
    const char* of_rule = name.empty() ? "AND :name = '' " : "AND name = :name ";
    const int limit = std::max(most, 0);  // for SQLite, less than 0 is without limit
    std::vector<Change> changes;
    Change change;
    long long revision = 0;
    long long time_us = 0;
    std::string text;
    soci::indicator has_text = soci::i_null;
    soci::statement rows =
        (session.prepare << "SELECT revision, space, name, text, author, comment, time_us "
                            "FROM weir_changes WHERE space = :space "
                         << of_rule << "ORDER BY revision DESC LIMIT :most",
         soci::use(wanted_space), soci::use(wanted_name), soci::use(limit), soci::into(revision),
         soci::into(change.space), soci::into(change.name), soci::into(text, has_text),
         soci::into(change.author), soci::into(change.comment), soci::into(time_us));
    rows.execute();
    while (rows.fetch()) {
      change.revision = revision;
      change.time = std::chrono::sys_time<Microseconds>(Microseconds(time_us));
      change.text = has_text == soci::i_ok ? std::optional(text) : std::nullopt;
      changes.push_back(change);
    }
    return changes;
  });
}

template <typename Work>
StoreResult<Revision> SqlRuleStore::Write(std::string_view doing, const Authorship& by, Work work) {
  if (auto wrong = CheckAuthorship(by)) return *std::move(wrong);
  const auto now = Now();
  Result<StoreResult<Revision>> result =
      database_.Run(doing, [&](soci::session& session) -> StoreResult<Revision> {
        RuleWriter writer(session, database_.dialect(), by, now);
        StoreResult<Revision> revision = work(session, writer);
        if (std::holds_alternative<Revision>(revision)) writer.Commit();
        return revision;
      });
  if (!result) return result.error();
  return std::move(*result);
}

StoreResult<Revision> SqlRuleStore::Apply(const std::vector<Edit>& edits, const Authorship& by) {
  if (auto wrong = CheckEdits(edits)) return *std::move(wrong);
  return Write("change rules", by, [&](soci::session&, RuleWriter& writer) {
    StoreResult<Revision> last = writer.latest();
    for (const Edit& edit : edits) {
      last = Make(edit, writer);
      if (!std::holds_alternative<Revision>(last)) break;
    }
    return last;
  });
}

StoreResult<Revision> SqlRuleStore::Rollback(std::string_view space, std::string_view name,
                                             Revision to, const Authorship& by) {
  const std::string in(space);
  const std::string only(name);
  const std::string what = name.empty() ? "namespace " + rule::Shown(in)
                                        : "rule " + rule::Shown(in) + "/" + rule::Shown(only);
  const auto cannot = [&](const std::string& why) {
    return Error{"cannot roll back " + what + " to revision " + std::to_string(to) + ": " + why};
  };
  if (to <= 0) return cannot("revisions begin with 1; the history has them");
  return Write("roll back", by,
               [&](soci::session& session, RuleWriter& writer) -> StoreResult<Revision> {
                 if (to > writer.latest()) {
                   return cannot("the latest revision is " + std::to_string(writer.latest()));
                 }
                 if (!WasEverThere(session, in, only)) return cannot("there never was any");
                 for (const std::string& each : ChangedSince(session, in, only, to)) {
                   PutBack(in, each, to, writer);
                 }
                 return writer.latest();
               });
}

Result<bool> SqlRuleStore::WaitForChange(std::chrono::milliseconds timeout) {
  return listener_->Wait(timeout);
}

void SqlRuleStore::Wake() { listener_->Wake(); }

}  // namespace weir::catalog
