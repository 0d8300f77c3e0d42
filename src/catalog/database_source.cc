#include "catalog/database_source.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>
#include <vector>

#include "catalog/database_url.h"

namespace weir::catalog {
namespace {

constexpr std::chrono::milliseconds kPauseAfterLoss{200};

Result<std::string> IdentityOf(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) {
    return Error{path +
                 " cannot be found: " + std::error_code(errno, std::generic_category()).message()};
  }
  return std::to_string(status.st_dev) + ":" + std::to_string(status.st_ino);
}

}  // namespace

Result<std::unique_ptr<DatabaseSource>> DatabaseSource::Of(const std::string& url) {
  const Result<DatabaseUrl> parsed = ParseDatabaseUrl(url);
  if (!parsed) return parsed.error();
  Access access;
  access.what = "the database " + parsed->shown;
  access.open = [url] { return RuleStore::Open(url); };
  if (parsed->engine == Engine::kSqlite) {
    access.file = [path = parsed->shown] { return IdentityOf(path); };
  }
  return std::make_unique<DatabaseSource>(std::move(access));
}

Retrieved DatabaseSource::Look() {
  if (const Result<bool> connected = Connect(); !connected) return Away(connected.error());
  if (is_of_this_) {
    const Result<Revision> latest = store_->Latest();
    if (!latest) return Away(latest.error());
    if (*latest == seen_->revision) return {};
  }
  return Read();
}

// Opens the database if there is no connection, or one to a file that was replaced.
Result<bool> DatabaseSource::Connect() {
  if (access_.file) {
    const Result<std::string> file = access_.file();
    // To open it would make a new one, without any rules. That is for a first start alone.
    if (!file && seen_) return file.error();
    if (file && *file != file_) SetStore(nullptr);
  }
  if (store_) return true;
  is_of_this_ = false;
  Result<std::unique_ptr<RuleStore>> opened = access_.open();
  if (!opened) return opened.error();
  if (access_.file) {
    const Result<std::string> file = access_.file();
    if (!file) return file.error();
    file_ = *file;
  }
  SetStore(std::move(*opened));
  return true;
}

void DatabaseSource::SetStore(std::unique_ptr<RuleStore> store) {
  const std::lock_guard lock(mutex_);
  store_.swap(store);
}

Retrieved DatabaseSource::Away(const Error& error) {
  SetStore(nullptr);
  Retrieved away;
  away.outcome = Retrieved::Outcome::kAway;
  away.away = error.message;
  return away;
}

Retrieved DatabaseSource::Read() {
  const Result<RuleStore::Everything> all = store_->ReadAll();
  if (!all) return Away(all.error());
  // A database that forgot everything is one that was lost and made anew. That is no reason to have
  // no limits.
  if (all->revision == 0 && seen_ && seen_->revision > 0) {
    return Away(Error{access_.what + " is empty, and was at revision " +
                      std::to_string(seen_->revision) +
                      " before; restore it, or start again to begin without rules"});
  }
  is_of_this_ = true;
  Seen now{all->revision, DigestOfRules(all->rules)};
  if (seen_ && seen_->revision == now.revision && seen_->digest == now.digest) return {};
  Retrieved found;
  found.version = std::to_string(all->revision);
  found.sets = reader_.Read(all->rules, found.problems);
  found.outcome = found.problems.empty() ? Retrieved::Outcome::kRules : Retrieved::Outcome::kBad;
  if (!found.problems.empty()) found.sets.clear();
  seen_ = std::move(now);
  return found;
}

void DatabaseSource::Wait(std::chrono::milliseconds timeout) {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(is_woken_, false)) return;
  }
  if (store_) {  // which only this thread changes
    const bool failed_before = std::exchange(has_wait_failed_, false);
    if (store_->WaitForChange(timeout).ok()) {
      const std::lock_guard lock(mutex_);
      is_woken_ = false;  // and so is the store
      return;
    }
    // The connection is lost: a look soon finds out more. But if there is none to be had for
    // waiting (the server lets in so many and no more), looking as often as agreed has to do.
    has_wait_failed_ = true;
    if (!failed_before) timeout = std::min(timeout, kPauseAfterLoss);
  }
  std::unique_lock lock(mutex_);
  woken_.wait_for(lock, timeout, [this] { return is_woken_; });
  is_woken_ = false;
}

void DatabaseSource::Wake() {
  {
    const std::lock_guard lock(mutex_);
    is_woken_ = true;
    if (store_) store_->Wake();
  }
  woken_.notify_all();
}

}  // namespace weir::catalog
