// What a look for rules changed, for the log: nothing, for the most part.
#pragma once

#include "catalog/retriever_status.h"
#include "server/log.h"

namespace weir {

// `before` and `after` a look. Says what began or ended with it, and bad rules once for each
// version of them, not at every look.
void LogLook(Log& log, const catalog::RetrieverStatus& before,
             const catalog::RetrieverStatus& after,
             Log::Time now = std::chrono::system_clock::now());

}  // namespace weir
