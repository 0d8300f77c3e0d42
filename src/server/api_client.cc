#include "server/api_client.h"

#include <array>

#include "net/endpoint.h"

namespace weir {
namespace {

// All but what RFC 3986 lets stand everywhere.
std::string PercentEncode(std::string_view text) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (kPlain.find(c) != std::string_view::npos) {
      encoded += c;
    } else {
      encoded += '%';
      encoded += kDigits[byte >> 4];
      encoded += kDigits[byte & 15];
    }
  }
  return encoded;
}

}  // namespace

std::string ApiPath(std::string_view base, const std::vector<std::string>& segments) {
  std::string path(base);
  for (const std::string& segment : segments) path += "/" + PercentEncode(segment);
  return path;
}

std::string ApiQuery(const std::vector<std::pair<std::string, std::string>>& parameters) {
  std::string query;
  for (const auto& [name, value] : parameters) {
    if (value.empty()) continue;
    query.append(query.empty() ? "?" : "&").append(name).append("=").append(PercentEncode(value));
  }
  return query;
}

std::string ApiClient::Request(const ApiCall& call) const {
  std::string request = call.method + " " + call.target + " HTTP/1.1\r\nHost: weir\r\n" +
                        "User-Agent: weir\r\nConnection: close\r\n";
  if (!options_.token.empty()) request += "Authorization: Bearer " + options_.token + "\r\n";
  for (const auto& [name, value] : call.fields) {
    request.append(name).append(": ").append(value).append("\r\n");
  }
  if (!call.body.empty()) {
    request += "Content-Type: " + call.content_type +
               "\r\nContent-Length: " + std::to_string(call.body.size()) + "\r\n";
  } else if (call.method != "GET") {
    request += "Content-Length: 0\r\n";
  }
  return request + "\r\n" + call.body;
}

Result<wire::HttpAnswer> ApiClient::Exchange(ApiStream& stream, const ApiCall& call) const {
  // A server that refuses may do so before it has read all: its answer says more than our failure.
  const std::optional<Error> unsent = stream.Send(Request(call));
  wire::HttpAnswerReader reader;
  std::array<char, 16384> block{};
  for (;;) {
    const Result<std::size_t> got = stream.Receive(block);
    if (!got) return unsent ? *unsent : got.error();
    if (*got == 0) {
      if (reader.End()) return reader.Take();
      return unsent ? *unsent : Error{"it hung up before it had answered"};
    }
    const Result<bool> done = reader.Read({block.data(), *got});
    if (!done) return done.error();
    if (*done) return reader.Take();
  }
}

Result<wire::HttpAnswer> ApiClient::Ask(const ApiCall& call) const {
  const std::string remedy =
      "; is it running, and is its --admin there? --server HOST:PORT or WEIR_SERVER names another";
  const Result<net::Endpoint> server = net::Endpoint::Parse(options_.server);
  if (!server) return Error{"--server: " + server.error().message};
  const auto failed = [&](const Error& why) {
    return Error{"cannot ask the server at " + options_.server + ": " + why.message + remedy};
  };
  Result<std::unique_ptr<ApiStream>> stream = options_.connect(*server, options_.timeout);
  if (!stream) return failed(stream.error());
  Result<wire::HttpAnswer> answer = Exchange(**stream, call);
  if (!answer) return failed(answer.error());
  return answer;
}

}  // namespace weir
