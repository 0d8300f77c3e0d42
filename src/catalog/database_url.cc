#include "catalog/database_url.h"

#include <libpq-fe.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string_view>

#include "rule/utf8.h"

namespace weir::catalog {
namespace {

constexpr std::string_view kForms =
    "give a file name, sqlite:FILE or postgresql://USER:PASSWORD@HOST:PORT/DATABASE";

Result<DatabaseUrl> SqliteFile(std::string_view file) {
  if (file.empty()) {
    return Error{"the database has no file name: " + std::string(kForms)};
  }
  if (rule::FirstInvalidUtf8(file) != std::string_view::npos ||
      file.find('"') != std::string_view::npos) {
    return Error{"database '" + rule::Shown(file) +
                 "': the file name must be UTF-8 and hold no quotation mark; choose another"};
  }
  // Absolute, so that it stays the same file wherever the process goes, and so that names with a
  // meaning of their own (":memory:") are names of files.
  std::error_code problem;
  const std::string path = std::filesystem::absolute(file, problem).lexically_normal().string();
  if (problem) {
    return Error{"database '" + std::string(file) + "': the current folder is gone; give a path " +
                 "that begins with /"};
  }
  return DatabaseUrl{Engine::kSqlite, "dbname=\"" + path + "\"", path};
}

// What PQconninfoParse() found, by name.
std::map<std::string, std::string, std::less<>> Settings(const PQconninfoOption* options) {
  std::map<std::string, std::string, std::less<>> settings;
  for (const PQconninfoOption* option = options; option->keyword != nullptr; ++option) {
    if (option->val != nullptr) settings[option->keyword] = option->val;
  }
  return settings;
}

// As a URL has it: what is neither a letter nor a digit becomes %XX.
std::string Encoded(std::string_view value) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
      encoded += c;
    } else {
      encoded += {'%', kHex[byte / 16], kHex[byte % 16]};
    }
  }
  return encoded;
}

Result<DatabaseUrl> Postgres(const std::string& url) {
  const std::unique_ptr<PQconninfoOption, decltype(&PQconninfoFree)> options(
      PQconninfoParse(url.c_str(), nullptr), PQconninfoFree);
  if (options == nullptr) {
    // libpq's own message may quote the password.
    return Error{
        "the URL of the PostgreSQL database is not valid: it has the form "
        "postgresql://USER:PASSWORD@HOST:PORT/DATABASE?SETTING=VALUE; write special characters "
        "in it as %XX"};
  }
  auto settings = Settings(options.get());
  // A host that is gone: seen after 5 s when connecting, after 10 to 25 s later. emplace() leaves
  // what the URL has.
  settings.emplace("connect_timeout", "5");
  settings.emplace("tcp_user_timeout", "10000");
  settings.emplace("keepalives_idle", "10");
  settings.emplace("keepalives_interval", "5");
  settings.emplace("keepalives_count", "3");
  settings.emplace("application_name", "weir");
  settings["client_encoding"] = "UTF8";

  DatabaseUrl database{.engine = Engine::kPostgres, .connect = "", .shown = "postgresql://"};
  // A URL again: SOCI takes other forms apart at blanks and quotation marks.
  database.connect = "postgresql://";
  for (const auto& [name, value] : settings) {
    database.connect += database.connect.ends_with('/') ? "?" : "&";
    database.connect += name + "=" + Encoded(value);
  }
  const auto shown = [&](const char* name, const char* before, const char* after) {
    const auto found = settings.find(name);
    if (found != settings.end()) database.shown += before + rule::Shown(found->second) + after;
  };
  shown("user", "", "@");
  shown("host", "", "");
  shown("port", ":", "");
  shown("dbname", "/", "");
  return database;
}

}  // namespace

Result<DatabaseUrl> ParseDatabaseUrl(const std::string& url) {
  if (url.starts_with("postgresql://") || url.starts_with("postgres://")) return Postgres(url);
  std::string_view file = url;
  if (file.starts_with("sqlite:")) file.remove_prefix(std::string_view("sqlite:").size());
  if (file.starts_with("///")) file.remove_prefix(2);  // sqlite:///var/lib/..., as a URL would
  if (const std::size_t colon = file.find("://"); colon != std::string_view::npos) {
    return Error{"'" + rule::Shown(file.substr(0, colon)) +
                 "' is no kind of database that is known here: " + std::string(kForms)};
  }
  return SqliteFile(file);
}

}  // namespace weir::catalog
