// Rules that are kept, their history and what became of an edit, for people and for programs.
#pragma once

#include <iosfwd>
#include <vector>

#include "catalog/rule_store.h"
#include "server/streams.h"
#include "service/rules_service.h"

namespace weir {

void PrintText(const std::vector<catalog::StoredRule>& rules, std::ostream& out);
void PrintJson(const std::vector<catalog::StoredRule>& rules, std::ostream& out);
void PrintJson(const catalog::StoredRule& rule, std::ostream& out);

void PrintText(const std::vector<catalog::Change>& changes, std::ostream& out);
void PrintJson(const std::vector<catalog::Change>& changes, std::ostream& out);

// Of a dry intent, the lines that would change too.
void PrintText(const Applied& applied, Intent intent, std::ostream& out);
void PrintJson(const Applied& applied, Intent intent, std::ostream& out);

// The reason on `err`, as JSON on `out` too. Returns the exit code.
ExitCode PrintRefused(const Refused& refused, bool json, Streams io);

}  // namespace weir
