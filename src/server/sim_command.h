// `weir sim`: the score card of the ways to enforce one limit on many hosts, in virtual time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "server/streams.h"

namespace CLI {  // NOLINT(readability-identifier-naming): not ours
class App;
}

namespace weir {

class SimCommand {
 public:
  explicit SimCommand(CLI::App& app);
  [[nodiscard]] bool is_asked() const;
  int Run(Streams io) const;

 private:
  CLI::App* command_;
  std::vector<std::string> settings_;
  std::vector<std::string> loads_;
  std::vector<std::string> methods_;
  std::uint64_t seed_ = 1;
  bool json_ = false;
};

}  // namespace weir
