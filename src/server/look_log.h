// What a look for newer rules, or for another certificate, changed: nothing, for the most part. The
// rest is for the log.
#pragma once

#include "catalog/retriever_status.h"
#include "net/tls_context.h"
#include "server/log.h"

namespace weir {

// `before` and `after` a look. Says what began or ended with it, and bad rules once for each
// version of them, not at every look.
void LogLook(Log& log, const catalog::RetrieverStatus& before,
             const catalog::RetrieverStatus& after,
             Log::Time now = std::chrono::system_clock::now());

// The same of certificates, which are bad once for each reason.
void LogLook(Log& log, const net::TlsStatus& before, const net::TlsStatus& after,
             Log::Time now = std::chrono::system_clock::now());

}  // namespace weir
