// Runs every trace of this folder. What a trace says is in docs/traces.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "trace/trace.h"

namespace weir::trace {
namespace {

const std::filesystem::path kFolder = std::filesystem::path(WEIR_SOURCE_DIR) / "tests";

std::vector<std::string> AllTraces() {
  std::vector<std::string> traces;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kFolder)) {
    if (entry.path().extension() != ".trace") continue;
    traces.push_back(entry.path().lexically_relative(kFolder).string());
  }
  std::sort(traces.begin(), traces.end());
  return traces;
}

class TraceFile : public testing::TestWithParam<std::string> {};

TEST_P(TraceFile, HoldsForALimiter) {
  const std::string path = (kFolder / GetParam()).string();
  const Result<Trace> trace = ReadFile(path);
  ASSERT_TRUE(trace) << trace.error().message;
  ASSERT_FALSE(trace->empty()) << path << " states nothing";
  LimiterMaker maker;
  for (const Mismatch& mismatch : trace::Run(*trace, maker)) {
    ADD_FAILURE_AT(path.c_str(), mismatch.line)
        << "expected " << mismatch.expected << "\n     got " << mismatch.got;
  }
}

INSTANTIATE_TEST_SUITE_P(All, TraceFile, testing::ValuesIn(AllTraces()), [](const auto& tested) {
  std::string name = tested.param.substr(0, tested.param.rfind('.'));
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '/' || c == '-' || c == '.'; }, '_');
  return name;
});

}  // namespace
}  // namespace weir::trace
