// What is said again is understood the short way, and answered as if it were said for the first
// time: a session that has heard everything before says the same as one that hears each command
// first.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontend/check_shape.h"
#include "frontend/resp_session.h"
#include "rule/rule_file.h"
#include "wire/resp_reply.h"

namespace weir {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Words = std::vector<std::string>;

constexpr Instant kStart{seconds(1'780'315'200)};

// They ask for other attributes, so that each gives them other numbers.
constexpr std::array<const char*, 3> kRules = {
    "namespace: shop\n"
    "rules:\n"
    "- {name: by-user, by: [user], limit: token_bucket 3/1s}\n"
    "- {name: api, match: {path: /api/**}, by: [ip], limit: token_bucket 5/1s}\n",
    "namespace: shop\n"
    "rules:\n"
    "- {name: networks, match: {ip: 10.0.0.0/8}, by: [plan], limit: fixed_window 20/1s}\n"
    "- {name: by-user, by: [user], limit: token_bucket 3/1s}\n"
    "- {name: waits, match: {path: /slow}, by: [user], limit: token_bucket 1/1s, "
    "exceed: delay 10s}\n",
    "namespace: other\n"
    "rules: [{name: other, by: [path], limit: token_bucket 2000000/1h}]\n",
};

std::string Encoded(const Words& words) {
  std::string bytes;
  wire::RespWriter writer(bytes, wire::RespVersion::k2);
  writer.Array(words.size());
  for (const std::string& word : words) writer.Bulk(word);
  return bytes;
}

std::unique_ptr<Checker> MakeChecker() {
  return std::make_unique<Checker>(std::move(Ledger::Open({.max_keys = 10'000})).value(),
                                   CheckerOptions{});
}

void Publish(Checker& checker, std::size_t which) {
  rule::Problems problems;
  auto set = rule::ReadRules(kRules[which], "test.yaml", problems);
  ASSERT_TRUE(set) << problems.front().ToString();
  std::vector<rule::RuleSet> sets;
  sets.push_back(std::move(*set));
  ASSERT_TRUE(checker.Publish(std::move(sets), "test").empty());
}

// Commands as clients say them: mostly like the one before.
class Client {
 public:
  explicit Client(unsigned seed) : random_(seed) { Forget(); }

  Words Say() {
    if (Below(10) == 0) Forget();
    if (is_cell_)
      return {Pick({"CL.THROTTLE", "THROTTLE", "cl.throttle"}, cell_), Value(), "2",
              Pick({"30", "3"}, cell_), Below(30) == 0 ? "x" : "60"};
    Words words = {command_, space_};
    if (!cost_.empty()) words.insert(words.end(), {"COST", Below(20) == 0 ? "7" : cost_});
    for (const std::string& name : names_) words.insert(words.end(), {name, Value()});
    if (Below(30) == 0) words.pop_back();
    if (Below(30) == 0) words.insert(words.end(), {"NEXT", "user", Value()});
    return words;
  }

 private:
  std::size_t Below(std::size_t bound) { return random_() % bound; }
  std::string Pick(std::initializer_list<const char*> of, std::size_t which) {
    return *(of.begin() + which % of.size());
  }
  std::string Any(std::initializer_list<const char*> of) { return Pick(of, random_()); }
  std::string Value() {
    if (Below(40) == 0) return std::string(Below(1100), 'x');
    return Any({"1", "2", "", "10.0.0.1", "10.0.0.2", "::1", "192.168.1.300", "/api/x", "/slow",
                "NEXT", "next", "NEXTS", "COST", "free", "a value of more than sixteen"});
  }
  // What is said from now on is of another shape.
  void Forget() {
    is_cell_ = Below(4) == 0;
    cell_ = random_();
    command_ = Any({"WEIR.CHECK", "WEIR.CHECK", "weir.check", "WEIR.PEEK"});
    space_ = Any({"shop", "shop", "shop", "other", "nobody's", ""});
    cost_ = Any({"", "", "", "2", "0", "x"});
    names_.resize(1 + Below(5));
    for (std::string& name : names_) {
      name = Any({"user", "path", "ip", "plan", "user", "ip", "unknown", "COST", "", "NEXT"});
    }
    if (Below(20) == 0) names_.resize(20, "user");
  }

  std::mt19937 random_;
  bool is_cell_ = false;
  std::size_t cell_ = 0;
  std::string command_, space_, cost_;
  Words names_;
};

class RespAgainTest : public testing::TestWithParam<unsigned> {};

TEST_P(RespAgainTest, IsAnsweredAsIfItWereSaidForTheFirstTime) {
  std::mt19937 random(GetParam());
  Client client(GetParam());
  const RespOptions options;
  const auto checker = MakeChecker();
  const auto other = MakeChecker();
  RespSession session(*checker, options);
  std::string unread;
  Instant now = kStart;
  for (int round = 0; round < 4'000; ++round) {
    if (round % 50 == 0) {
      const std::size_t which = random() % kRules.size();
      Publish(*checker, which);
      Publish(*other, which);
    }
    now += milliseconds(random() % 200);
    const Words words = client.Say();
    const std::string bytes = Encoded(words);
    std::string expected;
    RespSession(*other, options).Serve(bytes, now, expected);

    // In pieces, the buffer being another each time.
    std::string said;
    for (std::size_t at = 0; at < bytes.size();) {
      const std::size_t size = random() % 2 == 0 ? bytes.size() : 1 + random() % bytes.size();
      unread += std::string_view(bytes).substr(at, size);
      at += std::min(size, bytes.size() - at);
      const std::vector<char> exact(unread.begin(), unread.end());
      const auto progress = session.Serve({exact.data(), exact.size()}, now, said);
      unread.erase(0, progress.consumed);
    }
    ASSERT_EQ(unread, "");
    ASSERT_EQ(said, expected) << "round " << round << ": " << bytes;
  }
  const auto totals = checker->counters().ReadOthers();
  const auto other_totals = other->counters().ReadOthers();
  EXPECT_EQ(totals.unknown_space, other_totals.unknown_space);
  EXPECT_EQ(totals.cells_allowed, other_totals.cells_allowed);
  EXPECT_EQ(totals.cells_denied, other_totals.cells_denied);
}

INSTANTIATE_TEST_SUITE_P(Clients, RespAgainTest, testing::Range(1U, 9U));

TEST(RespAgainAuthTest, WhoIsNotAuthorizedAnyMoreIsNotServedTheShortWayEither) {
  const RespOptions options{.password = "secret"};
  const auto checker = MakeChecker();
  Publish(*checker, 0);
  RespSession session(*checker, options);
  const auto say = [&](const Words& words) {
    std::string out;
    session.Serve(Encoded(words), kStart, out);
    return out.substr(0, out.find_first_of(" \r"));
  };
  const Words check = {"WEIR.CHECK", "shop", "user", "7"};
  const Words throttle = {"CL.THROTTLE", "7", "2", "30", "60"};
  EXPECT_EQ(say({"AUTH", "secret"}), "+OK");
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(say(check), "*7");
    EXPECT_EQ(say(throttle), "*5");
  }
  EXPECT_EQ(say({"RESET"}), "+RESET");
  EXPECT_EQ(say(check), "-NOAUTH");
  EXPECT_EQ(say(throttle), "-NOAUTH");
}

TEST(RespAgainCostTest, ACostWithoutAttributesIsAnsweredHoweverOften) {
  const auto checker = MakeChecker();
  Publish(*checker, 0);
  const RespOptions options;
  RespSession session(*checker, options);
  for (int i = 0; i < 20; ++i) {
    std::string out;
    session.Serve(Encoded({"WEIR.CHECK", "shop", "COST", "2"}), kStart, out);
    EXPECT_EQ(out, "*7\r\n:1\r\n$-1\r\n:-1\r\n:-1\r\n:0\r\n:0\r\n:0\r\n");
  }
}

// Also where two take each other's place among those that are remembered, and by other rules of the
// same names.
TEST(RespAgainTest, ALimitIsToldAlikeWhetherItsTextIsRememberedOrNot) {
  const std::unique_ptr<Checker> checker = MakeChecker();
  const RespOptions options;
  RespSession session(*checker, options);
  for (const int factor : {1, 3}) {
    std::string text = "namespace: shop\nrules:\n";
    std::vector<std::string> names;
    for (std::size_t i = 1; i <= 120; ++i) {
      names.push_back("n" + std::string(i, 'a'));
      text += "- {name: " + names.back() + ", match: {path: /" + names.back() +
              "}, limit: fixed_window " + std::to_string(i * i * factor) + "00/1h}\n";
    }
    rule::Problems problems;
    auto set = rule::ReadRules(text, "test.yaml", problems);
    ASSERT_TRUE(set) << problems.front().ToString();
    ASSERT_TRUE(checker->Publish({std::move(*set)}, "test").empty());
    for (std::size_t round = 1; round <= 4; ++round) {
      for (std::size_t i = 1; i <= names.size(); ++i) {
        const std::string& name = names[i - 1];
        std::string out;
        session.Serve(Encoded({"WEIR.CHECK", "shop", "path", "/" + name}), kStart, out);
        const std::string begin = "*7\r\n:1\r\n$" + std::to_string(name.size()) + "\r\n" + name +
                                  "\r\n:" + std::to_string(i * i * factor) + "00\r\n:";
        ASSERT_EQ(out.substr(0, begin.size()), begin) << round;
      }
    }
  }
}

// --- the shape itself

class CheckShapeTest : public testing::Test {
 protected:
  void Learn(const Words& words, std::size_t first_name) {
    const std::vector<std::string_view> arguments(words.begin(), words.end());
    shape_.Learn(arguments, first_name, {.space = arguments[1], .attributes = {}});
  }
  std::size_t Read(const Words& words) {
    bytes_ = Encoded(words);
    values_.emplace(shape_.present());
    return shape_.Read(bytes_, *values_);
  }
  const rule::Space& Rules(std::size_t which) {
    Publish(*checker_, which);
    return *checker_->Open("shop", reply_);
  }

  std::unique_ptr<Checker> checker_ = MakeChecker();
  CheckReply reply_;
  CheckShape shape_;
  std::string bytes_;
  std::optional<rule::Values> values_;
};

TEST_F(CheckShapeTest, FitsCommandsWithOtherValuesAndNoOthers) {
  Learn({"WEIR.CHECK", "shop", "user", "7", "path", "/"}, 2);
  EXPECT_GT(Read({"WEIR.CHECK", "shop", "user", "acme", "path", ""}), 0);
  EXPECT_EQ(Read({"WEIR.CHECK", "shop", "user", "acme", "path", "NEXT"}), 0);
  EXPECT_EQ(Read({"WEIR.CHECK", "shop", "user", "acme"}), 0);
  EXPECT_EQ(Read({"WEIR.CHECK", "shop", "user", "acme", "ip", ""}), 0);
  EXPECT_EQ(Read({"WEIR.CHECK", "shops", "user", "acme", "path", ""}), 0);
  EXPECT_EQ(Read({"WEIR.PEEK", "shop", "user", "acme", "path", ""}), 0);
  EXPECT_EQ(Read({"WEIR.CHECK", "shop", "path", "/", "user", "7"}), 0);
}

TEST_F(CheckShapeTest, PutsValuesWhereTheRulesLookForThem) {
  Learn({"WEIR.CHECK", "shop", "user", "7", "nobody-asks", "", "user", "8", "ip", ""}, 2);
  for (const std::size_t which : {0, 1}) {
    const rule::Space& space = Rules(which);
    EXPECT_FALSE(shape_.IsBoundTo(space));
    shape_.Bind(space);
    EXPECT_TRUE(shape_.IsBoundTo(space));
    ASSERT_GT(
        Read({"WEIR.CHECK", "shop", "user", "x", "nobody-asks", "z", "user", "y", "ip", "::1"}), 0);
    values_->Finish();
    EXPECT_EQ((*values_)[*space.schema().Find("user")], "x");  // the first of two
    EXPECT_EQ((*values_)[rule::Schema::kIpNumber], "::1");
    EXPECT_EQ(values_->ip(), rule::Address::Parse("::1"));
    EXPECT_FALSE(values_->Has(*space.schema().Find(which == 0 ? "path" : "plan")));
  }
}

}  // namespace
}  // namespace weir
