// `weir token`: who may call the admin API, made and revoked.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "server/streams.h"

namespace weir {

struct TokenOptions {
  std::string state = "weir-state";
  std::string tokens = {};  // empty: those of the state
  std::string name = {};
  std::string role = {};
  std::string expires = {};  // from now; empty: never
  bool json = false;
};

class TokenCommand {
 public:
  // REQUIRES: `app` outlives this.
  explicit TokenCommand(CLI::App& app);
  TokenCommand(const TokenCommand&) = delete;
  TokenCommand& operator=(const TokenCommand&) = delete;

  [[nodiscard]] bool is_asked() const { return chosen_ != nullptr; }
  int Run(Streams io) const { return chosen_(io); }

 private:
  CLI::App* Add(CLI::App& token, const char* name, const char* description,
                int (*command)(const TokenOptions&, Streams));

  TokenOptions options_;
  std::function<int(Streams)> chosen_;
};

}  // namespace weir
