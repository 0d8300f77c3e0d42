#include "bench/load/traffic.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <initializer_list>
#include <numeric>
#include <random>

#include "bench/keys.h"

namespace weir::bench {
namespace {

// What is asked for how often, of a hundred. '#' becomes a number.
struct Page {
  unsigned share;
  std::string_view method;
  std::string_view path;
};
constexpr std::array<Page, 9> kPages = {{
    {35, "GET", "/api/v1/products/#"},
    {10, "GET", "/api/v1/orders/#"},
    {10, "POST", "/api/v1/orders"},
    {15, "GET", "/search"},
    {10, "GET", "/svc/media/#/small"},
    {5, "GET", "/svc/recommend/for/#"},
    {5, "POST", "/login"},
    {5, "PUT", "/uploads/#"},
    {5, "GET", "/about"},
}};

const Page& PickPage(unsigned percent) {
  const Page* page = kPages.data();
  for (; percent >= page->share; ++page) percent -= page->share;
  return *page;
}

ClientRequest RequestOf(std::uint32_t client, std::mt19937_64& random) {
  const Page& page = PickPage(static_cast<unsigned>(random() % 100));
  ClientRequest request{std::string(page.method), std::string(page.path), "", "", "", ""};
  if (const std::size_t mark = request.path.find('#'); mark != std::string::npos) {
    request.path.replace(mark, 1, std::to_string(random() % 100'000));
  }
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "10.%u.%u.%u", client >> 16, client >> 8 & 255,
                client & 255);
  request.ip = text.data();
  std::snprintf(text.data(), text.size(), "key-%06u", client);
  request.api_key = text.data();
  constexpr std::array<const char*, 4> kPlans = {"free", "starter", "team", "pro"};
  request.plan = kPlans[client % kPlans.size()];
  request.page = "/p/" + std::to_string(random() % 100'000);
  return request;
}

std::string RespCommand(std::initializer_list<std::string_view> words) {
  std::string out = "*" + std::to_string(words.size()) + "\r\n";
  for (const std::string_view word : words) {
    out += "$" + std::to_string(word.size()) + "\r\n";
    out += word;
    out += "\r\n";
  }
  return out;
}

std::string HttpRequest(const ClientRequest& request) {
  return "GET /check HTTP/1.1\r\nHost: weir.local\r\nX-Forwarded-Method: " + request.method +
         "\r\nX-Forwarded-Uri: " + request.path + "\r\nX-Forwarded-For: " + request.ip +
         "\r\nX-Weir-Namespace: shop\r\nX-Api-Key: " + request.api_key +
         "\r\nX-Plan: " + request.plan + "\r\n\r\n";
}

std::string PageHttpRequest(const ClientRequest& request) {
  return "GET /check HTTP/1.1\r\nHost: weir.local\r\nX-Forwarded-Uri: " + request.page +
         "\r\nX-Forwarded-For: " + request.ip + "\r\nX-Weir-Namespace: shop\r\n\r\n";
}

// --- protobuf: fields of bytes, all shorter than 128

std::string Bytes(int field, std::string_view value) {
  std::string out;
  out += static_cast<char>(field << 3 | 2);
  out += static_cast<char>(value.size());
  out += value;
  return out;
}

std::string Descriptor(std::string_view key, std::string_view value) {
  return Bytes(2, Bytes(1, Bytes(1, key) + Bytes(2, value)));
}

}  // namespace

std::vector<ClientRequest> MakeTraffic(std::uint32_t clients, Popularity popularity) {
  Stream stream(clients);
  std::mt19937_64 random(11);
  if (popularity == Popularity::kZipf) {
    stream = ZipfStream(clients, clients, 1);
  } else {
    std::iota(stream.begin(), stream.end(), 0U);
    std::shuffle(stream.begin(), stream.end(), random);
  }
  std::vector<ClientRequest> requests;
  requests.reserve(stream.size());
  for (const std::uint32_t client : stream) requests.push_back(RequestOf(client, random));
  return requests;
}

std::optional<Dialect> DialectOf(std::string_view name) {
  constexpr std::array<std::string_view, 8> kNames = {
      "incr", "evalsha", "cl.throttle", "weir.check", "http", "page.check", "page.http", "grpc"};
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<Dialect>(found - kNames.begin());
}

std::string Encode(const ClientRequest& request, Dialect dialect, std::string_view script) {
  switch (dialect) {
    case Dialect::kIncr:
      return RespCommand({"INCR", request.api_key});
    case Dialect::kEvalSha:
      return RespCommand({"EVALSHA", script, "1", request.api_key, "1000", "1000", "1"});
    case Dialect::kCellThrottle:
      return RespCommand({"CL.THROTTLE", request.api_key, "1000", "1000", "1"});
    case Dialect::kWeirCheck:
      return RespCommand({"WEIR.CHECK", "shop", "path", request.path, "method", request.method,
                          "ip", request.ip, "header.x-api-key", request.api_key, "header.x-plan",
                          request.plan});
    case Dialect::kHttp:
      return HttpRequest(request);
    case Dialect::kPageCheck:
      return RespCommand({"WEIR.CHECK", "shop", "path", request.page, "ip", request.ip});
    case Dialect::kPageHttp:
      return PageHttpRequest(request);
    case Dialect::kGrpc:
      return Bytes(1, "shop") + Descriptor("api_key", request.api_key) +
             Descriptor("remote_address", request.ip);
  }
  return {};
}

}  // namespace weir::bench
