#include "catalog/database_error.h"

#include <soci/postgresql/soci-postgresql.h>
#include <soci/sqlite3/soci-sqlite3.h>

#include <array>
#include <string>

namespace weir::catalog {
namespace {

struct SqliteCause {
  int code;
  const char* meaning;
};

constexpr std::array<SqliteCause, 9> kSqliteCauses = {{
    {SQLITE_FULL, "the disk is full; nothing was changed: free some space and try again"},
    {SQLITE_READONLY,
     "the file or its folder is read-only; nothing was changed: let this user write both"},
    {SQLITE_PERM, "permission denied; let this user read and write the file and its folder"},
    {SQLITE_CANTOPEN,
     "the file cannot be opened or made; its folder must exist, and this user must be able to "
     "write the file and the folder"},
    {SQLITE_NOTADB, "the file is not a database; name another file, or move this one away"},
    {SQLITE_CORRUPT, "the file is damaged; stop all servers and restore a backup"},
    {SQLITE_BUSY,
     "another process has kept the file locked; nothing was changed: try again, and end what "
     "holds it"},
    {SQLITE_IOERR,
     "the file cannot be read or written; nothing was changed: look at the disk, its quota and "
     "the system's log"},
    {SQLITE_SCHEMA, "another process has changed its tables; restart the server"},
}};

struct PostgresCause {
  std::string_view state;  // begins so
  const char* meaning;
};

constexpr std::array<PostgresCause, 13> kPostgresCauses = {{
    {"53100", "the disk of the server is full; nothing was changed: free some space there"},
    {"53300", "the server has too many connections; raise max_connections or close some"},
    {"25006", "the server is read-only; name the primary server, not a copy"},
    {"57014", "the server took too long and was interrupted; nothing was changed: try again"},
    {"55P03", "others have kept the rules locked; nothing was changed: try again"},
    {"57P", "the server has ended the connection; the next try connects anew"},
    {"25P03", "the server has ended the connection; the next try connects anew"},
    {"08", "the connection is lost; the next try connects anew"},
    {"42501",
     "permission denied; grant this user CREATE on the schema and all on the tables weir_*"},
    {"42P01",
     "the tables are gone or not where they are looked for; check search_path, or restore a "
     "backup"},
    {"22P05", "the database cannot hold this text; create it with ENCODING 'UTF8'"},
    {"40", "others changed the same; nothing was changed: try again"},
    {"XX", "the server has a problem of its own; look at its log"},
}};

// On one line, and without the name of the function that noticed.
std::string OneLine(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const bool blank = c == '\n' || c == '\t' || c == '\r' || c == ' ';
    if (!blank) {
      line += c;
    } else if (!line.empty() && line.back() != ' ') {
      line += ' ';
    }
  }
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

std::string Sqlite(const soci::sqlite3_soci_error& failure) {
  const int primary = failure.result() & 0xff;  // the rest says more of the same
  std::string text = failure.get_error_message();
  if (const std::size_t colon = text.rfind(": "); colon != std::string::npos) {
    text.erase(0, colon + 2);
  }
  for (const SqliteCause& cause : kSqliteCauses) {
    if (cause.code == primary) return cause.meaning + (" (" + OneLine(text) + ")");
  }
  return OneLine(text);
}

std::string Postgres(const soci::postgresql_soci_error& failure) {
  const std::string text = " (" + OneLine(failure.get_error_message()) + ")";
  for (const PostgresCause& cause : kPostgresCauses) {
    if (failure.sqlstate().starts_with(cause.state)) return cause.meaning + text;
  }
  return "the server refused" + text;
}

std::string Cause(Engine engine, const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const soci::sqlite3_soci_error& error) {
    return Sqlite(error);
  } catch (const soci::postgresql_soci_error& error) {
    return Postgres(error);
  } catch (const soci::soci_error& error) {
    // Without a code: it never came to a connection.
    const std::string text = OneLine(error.get_error_message());
    if (engine == Engine::kSqlite) return text;
    return "cannot connect; check that the server runs and that the URL is right (" + text + ")";
  } catch (const std::exception& error) {
    return OneLine(error.what());
  }
}

}  // namespace

Error ExplainFailure(const DatabaseUrl& database, std::string_view doing,
                     const std::exception_ptr& failure) {
  return Error{"database " + database.shown + ": cannot " + std::string(doing) + ": " +
               Cause(database.engine, failure)};
}

}  // namespace weir::catalog
