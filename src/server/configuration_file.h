// The file that says what the options of a command would: a map of their names to their values.
//
//   http: 0.0.0.0:8080
//   gateway: [10.0.0.0/8, 127.0.0.1]
//   ratelimit-environment: true
//
// This is its form; which names there are, and which values they take, settings.h knows.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rule/problem.h"

namespace weir {

struct ConfigurationEntry {
  std::string name;
  rule::Place name_place;
  std::vector<std::string> values;
  bool is_list = false;  // written as one, with any number of values
  rule::Place place;     // of the values
};

struct ConfigurationFile {
  std::string path;  // empty: there is none
  std::vector<ConfigurationEntry> entries;
};

// Adds what is wrong to `problems`; entries that are right are there in any case.
ConfigurationFile ReadConfiguration(const std::string& path, std::string_view text,
                                    rule::Problems& problems);
// The same, from the file itself.
ConfigurationFile ReadConfigurationFile(const std::string& path, rule::Problems& problems);

}  // namespace weir
