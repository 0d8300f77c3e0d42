// Asks the admin API of a server: one call, one connection, and waits for the answer. For commands,
// which ask once.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/api_stream.h"
#include "weir/result.h"
#include "wire/http_answer.h"

namespace weir {

struct ApiCall {
  std::string method = "GET";
  std::string target;  // path and query, encoded: see ApiPath and ApiQuery
  std::string body = {};
  std::string content_type = "application/json";                 // of a body
  std::vector<std::pair<std::string, std::string>> fields = {};  // more of the header
};

struct ApiClientOptions {
  std::string server = "127.0.0.1:8082";  // HOST:PORT or unix:PATH
  std::string token = {};                 // empty: none is sent
  std::chrono::milliseconds timeout{10'000};
  ApiConnect connect = ConnectPlain;
};

class ApiClient {
 public:
  explicit ApiClient(ApiClientOptions options) : options_(std::move(options)) {}

  // Whatever the server says is an answer, a refusal too. The error, that there is none, names the
  // server.
  [[nodiscard]] Result<wire::HttpAnswer> Ask(const ApiCall& call) const;

 private:
  [[nodiscard]] std::string Request(const ApiCall& call) const;
  [[nodiscard]] Result<wire::HttpAnswer> Exchange(ApiStream& stream, const ApiCall& call) const;

  ApiClientOptions options_;
};

// "/v1/rules" and {"shop", "a b"}: "/v1/rules/shop/a%20b".
std::string ApiPath(std::string_view base, const std::vector<std::string>& segments);
// "?limit=10&comment=why%20not"; parameters without a value are left out.
std::string ApiQuery(const std::vector<std::pair<std::string, std::string>>& parameters);

}  // namespace weir
