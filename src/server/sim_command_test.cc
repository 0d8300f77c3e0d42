#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "server/program.h"
#include "server/streams.h"

namespace weir {
namespace {

using testing::HasSubstr;
using testing::Not;

class SimCommandTest : public testing::Test {
 protected:
  int Run(std::vector<std::string> arguments) {
    std::istringstream in;
    std::ostringstream out;
    std::ostringstream err;
    arguments.insert(arguments.begin(), "sim");
    const int code = RunProgram(std::move(arguments), "1", {in, out, err});
    out_ = out.str();
    err_ = err.str();
    return code;
  }

  std::string out_;
  std::string err_;
};

TEST_F(SimCommandTest, PrintsARowForEachMethodAndAColumnForEachLoad) {
  EXPECT_EQ(Run({"--setting", "3x4/s", "--load", "flash", "--load", "over"}), kDone);
  EXPECT_THAT(out_, HasSubstr("3x4/s (3 hosts, burst 4, 600 s)\nWL1 % / E/B       over "));
  EXPECT_THAT(out_, Not(HasSubstr("on-off")));
  for (const char* method :
       {"\nstrict ", "\nlease ", "\nwrite_back ", "\nstatic split ", "\ncentral strict ",
        "\nbroadcast ", "\nplain write-back ", "\nrate shares ", "\nquota chunks "}) {
    EXPECT_THAT(out_, HasSubstr(method));
  }
}

TEST_F(SimCommandTest, TheSameSeedGivesTheSameJson) {
  const std::vector<std::string> asked = {"--setting", "3x4/s",  "--method", "lease",
                                          "--json",    "--seed", "3"};
  EXPECT_EQ(Run(asked), kDone);
  const std::string first = out_;
  EXPECT_THAT(first, HasSubstr(R"("setting": "3x4/s",)"));
  EXPECT_THAT(first, HasSubstr(R"("load": "shift",)"));
  EXPECT_THAT(first, HasSubstr(R"("windowed_error": 0.)"));
  EXPECT_EQ(Run(asked), kDone);
  EXPECT_EQ(out_, first);
  EXPECT_EQ(Run({"--setting", "3x4/s", "--method", "lease", "--json", "--seed", "4"}), kDone);
  EXPECT_NE(out_, first);
}

TEST_F(SimCommandTest, SaysWhatThereIsToChooseFrom) {
  EXPECT_EQ(Run({"--load", "heavy"}), kUnreadable);
  EXPECT_THAT(err_, HasSubstr("heavy"));
  EXPECT_THAT(err_, HasSubstr("on-off"));
}

}  // namespace
}  // namespace weir
