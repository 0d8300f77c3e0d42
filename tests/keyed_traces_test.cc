// Our own traces hold for a key of a table too, in memory and in a file: every algorithm, whether
// its state is a word or a record.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>

#include "tests/temporary_file.h"
#include "trace/trace.h"
#include "weir/keyed_limiter.h"

namespace weir::trace {
namespace {

const std::filesystem::path kFolder = std::filesystem::path(WEIR_SOURCE_DIR) / "tests" / "traces";

class KeyTarget : public Target {
 public:
  KeyTarget(const Limit& limit, const std::string& file)
      : clients_(limit, {.max_keys = 100, .file = file}) {}

  Decision Take(Permits cost, Instant now) override { return clients_.Take(kKey, cost, now); }
  Decision Peek(Permits cost, Instant now) override { return clients_.Peek(kKey, cost, now); }
  Partial TakeUpTo(Permits cost, Instant now) override {
    return clients_.TakeUpTo(kKey, cost, now);
  }
  Decision Charge(Permits cost, Instant now) override { return clients_.Charge(kKey, cost, now); }
  void Refund(Permits cost, Instant now) override { clients_.Refund(kKey, cost, now); }
  Reservation Reserve(Permits cost, Nanos patience, Instant now) override {
    return clients_.Reserve(kKey, cost, patience, now);
  }
  void SetLimit(const Limit& limit, Instant now) override {
    ASSERT_TRUE(clients_.SetLimit(limit, now)) << limit.ToString();
  }

 private:
  static constexpr std::string_view kKey = "user:7";
  KeyedLimiter clients_;
};

class KeyMaker : public TargetMaker {
 public:
  explicit KeyMaker(std::string file) : file_(std::move(file)) {}
  std::unique_ptr<Target> Make(const Limit& limit) override {
    if (!file_.empty()) std::filesystem::remove(file_);
    return std::make_unique<KeyTarget>(limit, file_);
  }

 private:
  std::string file_;
};

class TraceOnKeys : public testing::TestWithParam<std::string> {
 protected:
  static void Run(const std::string& file) {
    const std::string path = (kFolder / GetParam()).string();
    const Result<Trace> trace = ReadFile(path);
    ASSERT_TRUE(trace) << trace.error().message;
    KeyMaker maker(file);
    for (const Mismatch& mismatch : trace::Run(*trace, maker)) {
      ADD_FAILURE_AT(path.c_str(), mismatch.line)
          << "expected " << mismatch.expected << "\n     got " << mismatch.got;
    }
  }
};

TEST_P(TraceOnKeys, HoldsInMemory) { Run(""); }

TEST_P(TraceOnKeys, HoldsInAFile) {
  const TemporaryFile file;
  Run(file.path());
}

INSTANTIATE_TEST_SUITE_P(All, TraceOnKeys,
                         testing::Values("token_bucket.trace", "leaky_bucket.trace",
                                         "fixed_window.trace", "sliding.trace", "pacer.trace",
                                         "several.trace", "corners.trace"),
                         [](const auto& tested) {
                           std::string name = tested.param;
                           std::replace(name.begin(), name.end(), '.', '_');
                           return name;
                         });

}  // namespace
}  // namespace weir::trace
