// Settings as text: what is in force, for whoever operates the server, and which there are, for the
// reference page.
#pragma once

#include <iosfwd>

#include "server/settings.h"

namespace weir {

// A configuration file that says what is in force, and behind each value who said so. Secrets are
// masked.
void PrintSettings(const Settings& settings, std::ostream& out);

// docs/configuration.md, from what the options say about themselves.
void PrintReference(const Settings& settings, std::ostream& out);

}  // namespace weir
