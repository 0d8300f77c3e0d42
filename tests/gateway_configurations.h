// How the tests run each gateway: with the configuration of its page, ports and paths replaced.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace weir {

struct GatewaySetup {
  // What becomes of requests when Weir does not answer; both are on the page.
  enum class WithoutWeir : std::uint8_t { kPass, kAreRefused };
  // How long the gateway waits for Weir: not at all in the way of a slow machine, or as printed.
  enum class Patience : std::uint8_t { kAMinute, kAsPrinted };

  std::filesystem::path folder;  // for its files
  int port = 0;                  // where it listens
  std::string weir;              // "127.0.0.1:8080" or "unix:/path"
  std::string app;
  WithoutWeir without_weir = WithoutWeir::kPass;
  Patience patience = Patience::kAMinute;
};

// Write what is needed into the folder, and return the command that starts the gateway.
std::vector<std::string> NginxCommand(const GatewaySetup& setup);
std::vector<std::string> HaproxyCommand(const GatewaySetup& setup);

}  // namespace weir
