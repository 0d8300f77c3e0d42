#include "rule/request_classes.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "rule/rule_file.h"
#include "rule/rulebook.h"

namespace weir::rule {
namespace {

constexpr std::uint32_t kNone = RequestClasses::kNone;

std::unique_ptr<const Rulebook> BookOf(const std::string& rules) {
  Problems problems;
  auto set = ReadRules("namespace: shop\nrules:\n" + rules, "rules.yaml", problems);
  return Rulebook::Compile({set.value()}, problems);
}

class RequestClassesTest : public testing::Test {
 protected:
  void Use(const std::string& rules) {
    book_ = BookOf(rules);
    classes_ = std::make_unique<RequestClasses>(space().classes());
  }
  const Space& space() const { return *book_->Find("shop"); }
  std::uint32_t Of(const std::vector<Attribute>& attributes) {
    return classes_->Of(Values(space().schema(), attributes));
  }

  std::unique_ptr<const Rulebook> book_;
  std::unique_ptr<RequestClasses> classes_;
};

TEST_F(RequestClassesTest, RequestsThatRulesCannotTellApartAreOfOneClass) {
  Use("  - {name: a, match: {path: '/api/**', method: POST}, by: [user], limit: 1/s}\n"
      "  - {name: b, match: {path: /search}, by: [ip], limit: 1/s}\n");
  const std::uint32_t post = Of({{"path", "/api/1"}, {"method", "POST"}, {"user", "ann"}});
  EXPECT_EQ(Of({{"path", "/api/2/3"}, {"method", "POST"}, {"user", "bob"}}), post);
  EXPECT_NE(Of({{"path", "/api/2/3"}, {"method", "GET"}, {"user", "bob"}}), post);
  EXPECT_NE(Of({{"path", "/search"}, {"method", "POST"}, {"user", "bob"}}), post);
  EXPECT_NE(Of({{"path", "/api/1"}, {"method", "POST"}}), post) << "it has no key";
  EXPECT_NE(Of({{"method", "POST"}, {"user", "ann"}}), post) << "it has no path";
}

TEST_F(RequestClassesTest, NetworksTellRequestsApart) {
  Use("  - {name: a, match: {ip: [10.0.0.0/8, 10.1.0.0/16]}, limit: 1/s}\n"
      "  - {name: b, match: {ip: 192.0.2.0/24}, limit: 1/s}\n");
  const std::uint32_t inside = Of({{"ip", "10.2.0.1"}});
  EXPECT_EQ(Of({{"ip", "10.3.4.5"}}), inside);
  EXPECT_NE(Of({{"ip", "10.1.4.5"}}), inside);
  EXPECT_NE(Of({{"ip", "192.0.2.1"}}), inside);
  EXPECT_NE(Of({{"ip", "203.0.113.1"}}), inside);
  EXPECT_EQ(Of({{"ip", "203.0.113.1"}}), Of({{"ip", "2001:db8::1"}}));
  EXPECT_EQ(Of({{"ip", "10.2.0.1x"}}), kNone) << "no address";
}

TEST_F(RequestClassesTest, WhatOverridesAskAboutTellsRequestsApart) {
  Use("  - {name: a, by: [user], limit: 1/s, overrides: [{when: {plan: gold}, limit: 9/s}]}\n");
  EXPECT_NE(Of({{"user", "ann"}, {"plan", "gold"}}), Of({{"user", "ann"}, {"plan", "iron"}}));
  EXPECT_EQ(Of({{"user", "ann"}, {"plan", "tin"}}), Of({{"user", "ann"}, {"plan", "iron"}}));
}

TEST_F(RequestClassesTest, AnEmptyValueIsNotAnAbsentOne) {
  Use("  - {name: a, match: {plan: {present: true}}, limit: 1/s}\n");
  EXPECT_NE(Of({}), Of({{"plan", ""}}));
}

TEST_F(RequestClassesTest, RequestsWithOtherAttributesInTurnsKeepTheirClasses) {
  Use("  - {name: a, match: {path: '/api/**'}, by: [user], limit: 1/s}\n"
      "  - {name: b, match: {plan: gold, ip: [0.0.0.0/2, '::/1']}, limit: 1/s}\n");
  const std::vector<std::vector<Attribute>> requests = {
      {},
      {{"path", "/api/1"}},
      {{"path", "/api/1"}, {"user", "ann"}},
      {{"path", "/api/1"}, {"user", "ann"}, {"ip", "10.0.0.1"}},
      {{"path", "/api/1"}, {"user", "ann"}, {"ip", "192.0.2.1"}},
      {{"path", "/api/1"}, {"user", "ann"}, {"ip", "fe80::1"}},
      {{"plan", "gold"}, {"ip", "2001:db8::1"}},
      {{"plan", "iron"}, {"ip", "2001:db8::1"}}};
  std::vector<std::uint32_t> first;
  for (const auto& request : requests) first.push_back(Of(request));
  for (std::size_t i = 0; i < requests.size(); ++i) EXPECT_EQ(Of(requests[i]), first[i]) << i;
  EXPECT_EQ(first[4], first[5]) << "in no network";
  first.erase(first.begin() + 5);
  for (std::size_t i = 0; i < first.size(); ++i) EXPECT_EQ(first[i], i) << "each is another";
}

TEST_F(RequestClassesTest, ExpressionsThatMayBeginWithAnythingMakeTheSchemeUseless) {
  const auto book = BookOf("  - {name: a, match: {path: {regex: '.*[.]php'}}, limit: 1/s}\n");
  EXPECT_FALSE(book->Find("shop")->classes().is_usable());
}

TEST_F(RequestClassesTest, ThereAreOnlySoManyClasses) {
  std::string rules;
  for (int i = 0; i < 6; ++i) {
    const std::string number = std::to_string(i);
    for (char c = 'a'; c < 'f'; ++c) {
      rules += "  - {name: r" + number + c + ", match: {a" + number + ": " + c + "}, limit: 1/s}\n";
    }
  }
  Use(rules);
  std::uint32_t told = 0;
  for (int i = 0; i < 15'625; ++i) {  // 5 to the power of 6
    std::vector<std::string> texts;
    std::vector<std::string> names;
    for (int a = 0, rest = i; a < 6; ++a, rest /= 5) {
      texts.emplace_back(1, static_cast<char>('a' + rest % 5));
      names.push_back("a" + std::to_string(a));
    }
    std::vector<Attribute> request;
    for (std::size_t a = 0; a < 6; ++a) request.push_back({names[a], texts[a]});
    if (Of(request) != kNone) ++told;
  }
  EXPECT_EQ(told, RequestClasses::kMost);
  EXPECT_TRUE(classes_->is_full());
}

}  // namespace
}  // namespace weir::rule
