#include "catalog/rule_writer.h"

namespace weir::catalog {

RuleWriter::RuleWriter(soci::session& session, const Dialect& dialect, const Authorship& by,
                       std::chrono::sys_time<std::chrono::microseconds> now)
    : session_(session),
      dialect_(dialect),
      transaction_(session, dialect),
      by_(by),
      time_us_(now.time_since_epoch().count()),
      find_((session_.prepare << "SELECT revision, created, text FROM weir_changes "
                                 "WHERE space = :space AND name = :name AND revision <= :at "
                                 "ORDER BY revision DESC LIMIT 1",
             soci::use(space_), soci::use(name_), soci::use(at_), soci::into(revision_),
             soci::into(created_), soci::into(text_, has_text_))),
      add_change_((session_.prepare
                       << "INSERT INTO weir_changes "
                          "(revision, space, name, text, created, author, comment, time_us) VALUES "
                          "(:revision, :space, :name, :text, :created, :author, :comment, :time)",
                   soci::use(revision_), soci::use(space_), soci::use(name_),
                   soci::use(text_, has_text_), soci::use(created_), soci::use(by_.author),
                   soci::use(by_.comment), soci::use(time_us_))),
      put_rule_((session_.prepare
                     << "INSERT INTO weir_rules (space, name, revision, created, text) "
                        "VALUES (:space, :name, :revision, :created, :text) "
                        "ON CONFLICT (space, name) DO UPDATE SET revision = excluded.revision, "
                        "created = excluded.created, text = excluded.text",
                 soci::use(space_), soci::use(name_), soci::use(revision_), soci::use(created_),
                 soci::use(text_))),
      delete_rule_(
          (session_.prepare << "DELETE FROM weir_rules WHERE space = :space AND name = :name",
           soci::use(space_), soci::use(name_))) {
  session_ << std::string("SELECT latest FROM weir_revision") + dialect_.lock_row,
      soci::into(before_);
  latest_ = before_;
}

std::optional<RuleWriter::State> RuleWriter::StateAt(const std::string& space,
                                                     const std::string& name, Revision at) {
  space_ = space;
  name_ = name;
  at_ = at;
  if (!find_.execute(/*withDataExchange=*/true)) return std::nullopt;
  State state{.revision = revision_, .created = created_, .text = std::nullopt};
  if (has_text_ == soci::i_ok) state.text = text_;
  return state;
}

void RuleWriter::Put(const std::string& space, const std::string& name, const std::string& text,
                     std::optional<Revision> created) {
  space_ = space;
  name_ = name;
  text_ = text;
  has_text_ = soci::i_ok;
  created_ = created.value_or(latest_ + 1);
  AddChange();
  put_rule_.execute(true);
}

void RuleWriter::Delete(const std::string& space, const std::string& name, Revision created) {
  space_ = space;
  name_ = name;
  text_.clear();
  has_text_ = soci::i_null;
  created_ = created;
  AddChange();
  delete_rule_.execute(true);
}

void RuleWriter::AddChange() {
  revision_ = ++latest_;
  add_change_.execute(true);
}

void RuleWriter::Commit() {
  if (latest_ != before_) {
    session_ << "UPDATE weir_revision SET latest = :latest", soci::use(latest_);
    if (*dialect_.notify != '\0') session_ << dialect_.notify;
  }
  transaction_.Commit();
}

}  // namespace weir::catalog
