// What a failure of the database means to whoever runs it, and what they can do.
#pragma once

#include <exception>
#include <string_view>

#include "catalog/database_url.h"
#include "weir/result.h"

namespace weir::catalog {

// "DATABASE: cannot DOING: CAUSE; REMEDY". `failure` is what the database's library threw.
Error ExplainFailure(const DatabaseUrl& database, std::string_view doing,
                     const std::exception_ptr& failure);

}  // namespace weir::catalog
