// The tables of the database, as numbered steps that only go forward.
//
// Each step is one transaction, and what is done is noted in the table weir_schema. Several servers
// may migrate at once: one does it, the others wait and find it done.
#pragma once

#include <soci/session.h>

#include <optional>
#include <string>

#include "catalog/dialect.h"

namespace weir::catalog {

// The number of the last step that this program knows.
int LatestSchema();

// Brings the tables up to date. Returns why that is refused: the database was made by a newer
// program. Throws what SOCI throws.
std::optional<std::string> Migrate(soci::session& session, const Dialect& dialect);

}  // namespace weir::catalog
