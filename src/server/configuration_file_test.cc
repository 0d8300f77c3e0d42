#include "server/configuration_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/temporary_file.h"

namespace weir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ConfigurationFileTest : public ::testing::Test {
 protected:
  ConfigurationFile Read(std::string_view text) {
    problems_.clear();
    return ReadConfiguration("weir.yaml", text, problems_);
  }
  std::vector<std::string> Problems() {
    std::vector<std::string> texts;
    for (const rule::Problem& problem : problems_) texts.push_back(problem.ToString());
    return texts;
  }
  rule::Problems problems_;
};

TEST_F(ConfigurationFileTest, NamesHaveValuesAndListsWithTheirPlaces) {
  const ConfigurationFile file = Read("# mine\nhttp: 0.0.0.0:80\ngateway: [10.0.0.0/8, '::1']\n");
  EXPECT_THAT(Problems(), IsEmpty());
  ASSERT_EQ(file.entries.size(), 2U);
  EXPECT_EQ(file.entries[0].name, "http");
  EXPECT_EQ(file.entries[0].name_place, (rule::Place{2, 1}));
  EXPECT_EQ(file.entries[0].place, (rule::Place{2, 7}));
  EXPECT_THAT(file.entries[0].values, ElementsAre("0.0.0.0:80"));
  EXPECT_FALSE(file.entries[0].is_list);
  EXPECT_THAT(file.entries[1].values, ElementsAre("10.0.0.0/8", "::1"));
  EXPECT_TRUE(file.entries[1].is_list);
}

TEST_F(ConfigurationFileTest, AnEmptyFileAndAnEmptyListSayNothingWrong) {
  EXPECT_THAT(Read("").entries, IsEmpty());
  EXPECT_THAT(Read("# all by default\n").entries, IsEmpty());
  EXPECT_THAT(Read("gateway: []\n").entries.at(0).values, IsEmpty());
  EXPECT_THAT(Problems(), IsEmpty());
}

TEST_F(ConfigurationFileTest, EverythingThatIsWrongIsToldWithItsPlace) {
  const ConfigurationFile file = Read("http:\nresp: {a: b}\ngateway: [[x]]\nstate: memory\n");
  EXPECT_THAT(
      Problems(),
      ElementsAre(HasSubstr("weir.yaml:1:"),
                  "weir.yaml:2:7: resp: expected a value, got a map; write resp: '' for an empty "
                  "one, or leave it out",
                  HasSubstr("weir.yaml:3:11: gateway: expected a value, got a list")));
  ASSERT_EQ(file.entries.size(), 1U);
  EXPECT_EQ(file.entries[0].name, "state");
}

TEST_F(ConfigurationFileTest, AFileThatIsNoMapIsRefused) {
  Read("- http\n");
  EXPECT_THAT(Problems(), ElementsAre(HasSubstr("expected names and values, got a list")));
  Read("http: [\n");
  EXPECT_THAT(Problems(), ElementsAre(HasSubstr("weir.yaml:")));
}

TEST_F(ConfigurationFileTest, AFileThatCannotBeReadIsNamed) {
  const TemporaryFile folder;
  ReadConfigurationFile(folder.path(), problems_);
  EXPECT_THAT(Problems(),
              ElementsAre(folder.path() + ": cannot be read: No such file or directory; correct "
                                          "--config, or leave it out"));
  problems_.clear();
  ReadConfigurationFile(folder.folder().string(), problems_);
  EXPECT_THAT(Problems(), ElementsAre(HasSubstr("Is a directory")));
}

}  // namespace
}  // namespace weir
