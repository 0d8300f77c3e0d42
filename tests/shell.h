// Commands of the shell, for tests that ask as people do: with curl, redis-cli and the like.
#pragma once

#include <array>
#include <cstdio>
#include <string>

namespace weir {

// What a command prints, errors included.
inline std::string Shell(const std::string& command) {
  std::string printed;
  std::FILE* pipe = popen(("(" + command + ") 2>&1").c_str(), "r");
  if (pipe == nullptr) return "popen failed";
  std::array<char, 4096> block{};
  while (const std::size_t got = std::fread(block.data(), 1, block.size(), pipe)) {
    printed.append(block.data(), got);
  }
  pclose(pipe);
  return printed;
}

inline std::string PortOf(const std::string& address) {
  return address.substr(address.rfind(':') + 1);
}

}  // namespace weir
