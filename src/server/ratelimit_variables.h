// The variables of envoyproxy/ratelimit as it reads them. A part of ratelimit_environment.h, for
// its own use.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "weir/result.h"

namespace weir {

// Reads variables one by one; the first that makes no sense is kept as the error.
class RatelimitVariables {
 public:
  explicit RatelimitVariables(const std::map<std::string, std::string>& variables)
      : variables_(variables) {}

  std::string Text(const std::string& name, std::string_view otherwise = "") {
    used_.insert(name);
    const auto found = variables_.find(name);
    return found != variables_.end() && !found->second.empty() ? found->second
                                                               : std::string(otherwise);
  }
  bool Flag(const std::string& name, bool otherwise = false) {
    const std::string text = Text(name, otherwise ? "true" : "false");
    for (std::string_view yes : {"1", "t", "T", "true", "TRUE", "True"}) {
      if (text == yes) return true;
    }
    for (std::string_view no : {"0", "f", "F", "false", "FALSE", "False"}) {
      if (text == no) return false;
    }
    Fail(name + ": expected true or false, got '" + text + "'");
    return otherwise;
  }
  // HOST:PORT, as the options want it.
  std::string Address(const std::string& host, const std::string& port,
                      std::string_view usual_port) {
    const std::string number = Text(port, usual_port);
    const Result<std::uint64_t> parsed = ParseCount(number);
    if (!parsed || *parsed > 65535) Fail(port + ": expected a port, got '" + number + "'");
    const std::string name = Text(host, "0.0.0.0");
    const bool is_v6 = name.find(':') != std::string::npos && !name.starts_with('[');
    return (is_v6 ? "[" + name + "]" : name) + ":" + number;
  }
  void Fail(std::string message) {
    if (!error_) error_ = Error{std::move(message)};
  }
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }
  // The names that were asked for.
  [[nodiscard]] const std::set<std::string>& used() const { return used_; }

 private:
  const std::map<std::string, std::string>& variables_;
  std::set<std::string> used_;
  std::optional<Error> error_;
};

}  // namespace weir
