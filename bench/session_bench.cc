// Requests as they come out of a socket, answered by a session and counted as a handler counts
// them: protocol, rules, limits and metrics, but no kernel. What tools/check_instructions.sh counts
// the instructions of.
//
//   session_bench weir.check|page.check|cl.throttle|http|page.http|grpc REQUESTS [PER_READ]
//
// The rules are bench/server_rules.yaml, so it is started in the root of the repository.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/load/dialogue.h"
#include "bench/load/traffic.h"
#include "bench/measure.h"
#include "frontend/grpc_session.h"
#include "frontend/http_session.h"
#include "frontend/resp_session.h"
#include "frontend/traffic.h"
#include "rule/rule_file.h"
#include "service/checker.h"
#include "wire/http2_frame.h"

namespace weir::bench {
namespace {

constexpr std::uint32_t kClients = 10'000;
constexpr const char* kRules = "bench/server_rules.yaml";

std::unique_ptr<Checker> MakeChecker() {
  std::ifstream file(kRules);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  rule::Problems problems;
  auto set = rule::ReadRules(text, kRules, problems);
  auto checker = std::make_unique<Checker>(std::move(Ledger::Open({.max_keys = 1'000'000})).value(),
                                           CheckerOptions{});
  if (set) {
    std::vector<rule::RuleSet> sets;
    sets.push_back(std::move(*set));
    problems = checker->Publish(std::move(sets), "bench");
  }
  for (const auto& problem : problems) std::fprintf(stderr, "%s\n", problem.ToString().c_str());
  return problems.empty() ? std::move(checker) : nullptr;
}

// Calls of gRPC, which have to be made of each connection anew: the numbers of calls only grow.
class Calls {
 public:
  // Asks all of `questions` once.
  Calls(const Questions& questions, GrpcSession& session, Instant now) {
    const std::unique_ptr<Dialogue> dialogue = MakeGrpcDialogue(questions, 0);
    const auto exchange = [&](const std::string& asked) {
      std::string answered;
      std::string in_return;
      session.Serve(asked, now, answered);
      dialogue->Hear(answered, in_return);
      answered.clear();
      session.Serve(in_return, now, answered);
    };
    std::string greeting;
    dialogue->Greet(greeting);
    dialogue->Ask(1, greeting);  // the only one that says its fields in full
    exchange(greeting);
    for (std::size_t i = 0; i < questions.count(); ++i) {
      std::string call;
      dialogue->Ask(1, call);
      bytes_ += call;
      ends_.push_back(bytes_.size());
      exchange(call);
    }
    id_ = 2 * static_cast<std::uint32_t>(questions.count() + 1) + 1;
  }

  [[nodiscard]] std::size_t count() const { return ends_.size(); }
  std::string_view Bytes(std::size_t first, std::size_t count) {
    const std::size_t begin = first == 0 ? 0 : ends_[first - 1];
    const std::size_t end = ends_[first + count - 1];
    for (char* at = bytes_.data() + begin; at < bytes_.data() + end;) {
      for (int frame = 0; frame < 2; ++frame) {  // HEADERS, DATA
        wire::PutBigEndian32(id_, at + 5);
        at += wire::kFrameHeaderSize + wire::ReadFrameHeader(at).length;
      }
      id_ += 2;
    }
    return std::string_view(bytes_).substr(begin, end - begin);
  }

 private:
  std::string bytes_;
  std::vector<std::size_t> ends_;
  std::uint32_t id_ = 0;
};

// Answers requests until there were `wanted`; returns the bytes of the answers.
template <typename Session, typename Requests>
std::uint64_t Serve(Checker& checker, Session& session, Requests& questions, std::uint64_t wanted,
                    std::size_t per_read) {
  std::string out;
  Traffic traffic;
  std::uint64_t bytes = 0;
  std::size_t next = 0;
  // Some requests are looked at more closely, so many per second: seconds must be those of a busy
  // server, also where a tool that counts instructions takes its time.
  constexpr Nanos kEach = std::chrono::microseconds(4);
  Instant deciding = checker.Now();
  for (std::uint64_t done = 0; done < wanted; done += per_read) {
    if (next + per_read > questions.count()) next = 0;
    out.clear();
    const Instant now = checker.Now();
    deciding += kEach * per_read;
    const auto progress = session.Serve(questions.Bytes(next, per_read), deciding, out);
    traffic.Count(Protocol::kResp, {progress.requests, progress.errors, checker.Now() - now});
    bytes += out.size();
    next += per_read;
  }
  return bytes;
}

template <typename Session, typename Requests>
int Measure(Checker& checker, Session& session, Requests& questions, std::uint64_t wanted,
            std::size_t per_read) {
  Serve(checker, session, questions, questions.count(), per_read);  // all keys are there
  const auto start = std::chrono::steady_clock::now();
  const std::uint64_t bytes = Serve(checker, session, questions, wanted, per_read);
  const auto count = static_cast<double>(wanted);
  std::printf("%.0f requests, %zu per read: %.0f ns and %.0f bytes of answer each\n", count,
              per_read, SecondsSince(start) * 1e9 / count, static_cast<double>(bytes) / count);
  return bytes > 0 ? 0 : 1;
}

int Run(Dialect dialect, std::uint64_t wanted, std::size_t per_read) {
  const std::unique_ptr<Checker> checker = MakeChecker();
  if (checker == nullptr) return 1;
  const Questions questions(MakeTraffic(kClients, Popularity::kUniform), dialect, {});
  const RespOptions resp;
  HttpOptions http;
  const rule::Network gateway = rule::Network::Parse("127.0.0.0/8").value();
  http.gateways = {gateway};
  rule::ClientOptions clients;
  clients.trusted.networks = http.gateways;
  clients.trusted.header = rule::ForwardedHeader::kXForwardedFor;
  http.clients = rule::ClientIdentifier(std::move(clients));
  if (dialect == Dialect::kGrpc) {
    const GrpcOptions grpc;
    GrpcSession session(*checker, grpc);
    Calls calls(questions, session, checker->Now());
    return Measure(*checker, session, calls, wanted, per_read);
  }
  if (dialect == Dialect::kHttp || dialect == Dialect::kPageHttp) {
    HttpSession session(*checker, http, rule::Address::Parse("127.0.0.1"), std::nullopt);
    return Measure(*checker, session, questions, wanted, per_read);
  }
  RespSession session(*checker, resp);
  return Measure(*checker, session, questions, wanted, per_read);
}

int Main(int argc, char** argv) {
  const std::optional<Dialect> dialect = DialectOf(argc > 1 ? argv[1] : "");
  const bool known = dialect && dialect != Dialect::kIncr && dialect != Dialect::kEvalSha;
  if (argc > 1 && !known) {
    std::fprintf(stderr,
                 "usage: session_bench [weir.check|page.check|cl.throttle|http|page.http|grpc "
                 "[REQUESTS [PER_READ]]]\n");
    return 2;
  }
  const std::uint64_t wanted = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 2'000'000;
  const std::size_t per_read = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 16;
  if (known) return Run(*dialect, wanted, std::clamp<std::size_t>(per_read, 1, kClients));
  for (const char* name :
       {"weir.check", "page.check", "cl.throttle", "http", "page.http", "grpc"}) {
    std::printf("%-12s ", name);
    if (Run(*DialectOf(name), wanted, per_read) != 0) return 1;
  }
  return 0;
}

}  // namespace
}  // namespace weir::bench

int main(int argc, char** argv) { return weir::bench::Main(argc, argv); }
