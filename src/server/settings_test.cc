#include "server/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <map>
#include <memory>

namespace weir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Origin = Setting::Origin;

// A command with an option of each kind.
struct Example {
  std::string http = "127.0.0.1:8080";
  int threads = 0;
  std::vector<std::string> gateways = {"127.0.0.0/8", "::1"};
  bool merge = false;
  std::string rules;
  std::string database;
  std::string config;
  CLI::App app;

  Example() {
    app.add_option("--http", http, "Where to listen")->capture_default_str();
    app.add_option("--threads", threads)->check(CLI::Range(0, 8))->capture_default_str();
    app.add_option("--gateway", gateways)->capture_default_str()->group("Clients");
    app.add_flag("--merge-domains", merge);
    auto* from = app.add_option("--rules", rules);
    app.add_option("--database", database)->excludes(from);
    app.add_option("--config", config)->configurable(false);
  }
};

class SettingsTest : public ::testing::Test {
 protected:
  // What it is told on the command line, in the file and in the environment.
  void Tell(std::vector<std::string> line, std::string_view file = "",
            const std::map<std::string, std::string>& variables = {}) {
    example_ = std::make_unique<Example>();
    problems_.clear();
    std::reverse(line.begin(), line.end());
    example_->app.parse(std::move(line));
    const ConfigurationFile read = ReadConfiguration("weir.yaml", file, problems_);
    settings_ = Complete(example_->app, read, variables, problems_);
  }
  const Setting& Of(std::string_view name) {
    for (const Setting& setting : settings_) {
      if (setting.name == name) return setting;
    }
    ADD_FAILURE() << "there is no setting " << name;
    return settings_.front();
  }
  std::vector<std::string> Problems() {
    std::vector<std::string> texts;
    for (const rule::Problem& problem : problems_) texts.push_back(problem.ToString());
    return texts;
  }

  std::unique_ptr<Example> example_;
  Settings settings_;
  rule::Problems problems_;
};

TEST_F(SettingsTest, AVariableIsTheNameOfTheOptionInCapitals) {
  EXPECT_EQ(VariableOf("max-keys"), "WEIR_MAX_KEYS");
  EXPECT_EQ(VariableOf("http"), "WEIR_HTTP");
}

TEST_F(SettingsTest, TheCommandLineCountsMoreThanTheEnvironmentAndThatMoreThanTheFile) {
  Tell({});
  EXPECT_EQ(example_->http, "127.0.0.1:8080");
  EXPECT_EQ(Of("http").origin, Origin::kDefault);
  EXPECT_EQ(Of("http").place, "");
  Tell({}, "http: file:1");
  EXPECT_EQ(example_->http, "file:1");
  EXPECT_EQ(Of("http").place, "weir.yaml:1:7");
  Tell({}, "http: file:1", {{"WEIR_HTTP", "variable:2"}});
  EXPECT_EQ(example_->http, "variable:2");
  EXPECT_EQ(Of("http").place, "WEIR_HTTP");
  Tell({"--http", "line:3"}, "http: file:1", {{"WEIR_HTTP", "variable:2"}});
  EXPECT_EQ(example_->http, "line:3");
  EXPECT_EQ(Of("http").place, "--http");
  EXPECT_THAT(Of("http").values, ElementsAre("line:3"));
  EXPECT_THAT(Problems(), IsEmpty());
}

TEST_F(SettingsTest, AnEmptyVariableSaysNothingAndAnEmptyValueOfTheFileIsOne) {
  Tell({}, "http: ''", {{"WEIR_THREADS", ""}});
  EXPECT_EQ(example_->http, "");
  EXPECT_EQ(Of("http").origin, Origin::kFile);
  EXPECT_EQ(Of("threads").origin, Origin::kDefault);
  EXPECT_THAT(Problems(), IsEmpty());
}

TEST_F(SettingsTest, ListsReplaceTheDefaultWhoeverSaysThem) {
  Tell({});
  EXPECT_THAT(Of("gateway").values, ElementsAre("127.0.0.0/8", "::1"));
  Tell({}, "gateway: [10.0.0.0/8, 192.168.0.0/16]");
  EXPECT_THAT(example_->gateways, ElementsAre("10.0.0.0/8", "192.168.0.0/16"));
  Tell({}, "gateway: 10.0.0.0/8");
  EXPECT_THAT(example_->gateways, ElementsAre("10.0.0.0/8"));
  Tell({}, "gateway: []");
  EXPECT_THAT(example_->gateways, IsEmpty());
  EXPECT_THAT(Of("gateway").values, IsEmpty());
  Tell({}, "", {{"WEIR_GATEWAY", "10.0.0.0/8, ::1,"}});
  EXPECT_THAT(example_->gateways, ElementsAre("10.0.0.0/8", "::1"));
  EXPECT_THAT(Problems(), IsEmpty());
}

TEST_F(SettingsTest, FlagsAreTrueOrFalse) {
  Tell({}, "merge-domains: true");
  EXPECT_TRUE(example_->merge);
  Tell({}, "merge-domains: true", {{"WEIR_MERGE_DOMAINS", "false"}});
  EXPECT_FALSE(example_->merge);
  Tell({"--merge-domains"}, "merge-domains: false");
  EXPECT_TRUE(example_->merge);
  EXPECT_THAT(Of("merge-domains").values, ElementsAre("true"));
  EXPECT_THAT(Problems(), IsEmpty());
  Tell({}, "merge-domains: perhaps");
  EXPECT_THAT(Problems(), ElementsAre(HasSubstr("weir.yaml:1:16: ")));
}

TEST_F(SettingsTest, AnUnknownNameIsRefusedWithTheNearest) {
  Tell({}, "threads: 2\ngatway: ::1\nconfig: other.yaml\n");
  EXPECT_THAT(Problems(),
              ElementsAre("weir.yaml:2:1: unknown name 'gatway'; did you mean 'gateway'?",
                          HasSubstr("weir.yaml:3:1: unknown name 'config'; ")));
}

TEST_F(SettingsTest, AValueThatMakesNoSenseIsRefusedWithItsPlace) {
  Tell({}, "http: x:1\nthreads: 9\n");
  EXPECT_THAT(Problems(), ElementsAre(HasSubstr("weir.yaml:2:10: threads: Value 9 not in range")));
  Tell({}, "", {{"WEIR_THREADS", "many"}});
  EXPECT_THAT(Problems(), ElementsAre(HasSubstr("WEIR_THREADS: Value many not in range")));
  Tell({}, "threads: [1, 2]");
  EXPECT_THAT(Problems(), ElementsAre("weir.yaml:1:10: threads: expected one value, got a list; "
                                      "write one of them"));
}

TEST_F(SettingsTest, OfTwoThatExcludeEachOtherTheOneThatCountsMoreIsTaken) {
  Tell({"--rules", "r"}, "database: d", {{"WEIR_DATABASE", "e"}});
  EXPECT_EQ(example_->rules, "r");
  EXPECT_EQ(example_->database, "");
  EXPECT_EQ(Of("database").origin, Origin::kDefault);
  Tell({}, "rules: r", {{"WEIR_DATABASE", "e"}});
  EXPECT_EQ(example_->rules, "");
  EXPECT_EQ(example_->database, "e");
  EXPECT_THAT(Problems(), IsEmpty());
  Tell({}, "rules: r\ndatabase: d\n");
  EXPECT_THAT(Problems(), ElementsAre("weir.yaml:1:8: rules and database exclude each other; take "
                                      "one of them away"));
}

TEST_F(SettingsTest, AMessageAboutAnOptionGetsThePlaceThatSaidIt) {
  Tell({"--threads", "1"}, "gateway: [lan]", {{"WEIR_HTTP", "nowhere"}});
  EXPECT_EQ(Locate(settings_, "--gateway: expected a network"),
            "weir.yaml:1:10: gateway: expected a network");
  EXPECT_EQ(Locate(settings_, "--http: expected a port"), "WEIR_HTTP: expected a port");
  EXPECT_EQ(Locate(settings_, "--threads: too few"), "--threads: too few");
  EXPECT_EQ(Locate(settings_, "--rules: by default"), "--rules: by default");
  EXPECT_EQ(Locate(settings_, "keys: no such file"), "keys: no such file");
}

TEST_F(SettingsTest, WhatChangedIsNamedWhoeverSaysIt) {
  Tell({}, "http: a:1\nthreads: 2\n");
  const Settings before = settings_;
  Tell({}, "http: a:1\n", {{"WEIR_THREADS", "2"}});
  EXPECT_THAT(Changed(before, settings_), IsEmpty()) << "the same, from elsewhere";
  Tell({}, "http: b:1\ngateway: ['::1']\nthreads: 2\n");
  EXPECT_THAT(Changed(before, settings_), ElementsAre("http", "gateway"));
}

}  // namespace
}  // namespace weir
