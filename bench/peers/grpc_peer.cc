// What Weir's gRPC is measured against: the same handler behind gRPC's own library for servers.
//
//   grpc_peer HOST:PORT RULES
//
// The callback interface, which its authors recommend for speed. Messages go through as bytes, as
// they do in Weir, so that only the transport differs.
#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/codegen/server_callback_handlers.h>
#include <grpcpp/impl/service_type.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "frontend/should_rate_limit.h"
#include "rule/rule_file.h"
#include "service/checker.h"

namespace weir::bench {
namespace {

class RateLimitService final : public grpc::Service {
 public:
  explicit RateLimitService(Checker& checker) : checker_(checker) {
    // What the generated code of a service with one raw method does.
    AddMethod(new grpc::internal::RpcServiceMethod(RateLimitMethod::kPath.data(),
                                                   grpc::internal::RpcMethod::NORMAL_RPC, nullptr));
    using Handler = grpc::internal::CallbackUnaryHandler<grpc::ByteBuffer, grpc::ByteBuffer>;
    MarkMethodRawCallback(
        0, new Handler([this](grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                              grpc::ByteBuffer* response) {
          grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
          reactor->Finish(Answer(*request, *response));
          return reactor;
        }));
  }

 private:
  grpc::Status Answer(const grpc::ByteBuffer& request, grpc::ByteBuffer& response) {
    thread_local RateLimitMethod method(checker_, options_);
    thread_local std::string answer;
    grpc::Slice message;
    if (!request.TrySingleSlice(&message).ok() && !request.DumpToSingleSlice(&message).ok()) {
      return {grpc::StatusCode::INTERNAL, "the message cannot be read"};
    }
    const std::string_view bytes(reinterpret_cast<const char*>(message.begin()), message.size());
    answer.clear();
    const wire::GrpcStatus status = method.Answer(bytes, checker_.Now(), answer);
    if (!status.ok()) {
      return {static_cast<grpc::StatusCode>(status.code), status.message};
    }
    const grpc::Slice slice(answer);
    response = grpc::ByteBuffer(&slice, 1);
    return grpc::Status::OK;
  }

  Checker& checker_;
  RateLimitOptions options_;
};

int Main(const char* address, const char* rules) {
  std::ifstream file(rules);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  rule::Problems problems;
  auto set = rule::ReadRules(text, rules, problems);
  Checker checker(std::move(Ledger::Open({.max_keys = 1'000'000})).value(), {});
  if (set) {
    std::vector<rule::RuleSet> sets;
    sets.push_back(std::move(*set));
    problems = checker.Publish(std::move(sets), "bench");
  }
  for (const auto& problem : problems) std::fprintf(stderr, "%s\n", problem.ToString().c_str());
  if (!problems.empty()) return 1;

  RateLimitService service(checker);
  grpc::ServerBuilder builder;
  builder.AddListeningPort(address, grpc::InsecureServerCredentials());
  builder.RegisterService(&service);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr) {
    std::fprintf(stderr, "grpc_peer: cannot listen on %s\n", address);
    return 1;
  }
  server->Wait();
  return 0;
}

}  // namespace
}  // namespace weir::bench

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: grpc_peer HOST:PORT RULES\n");
    return 2;
  }
  return weir::bench::Main(argv[1], argv[2]);
}
