// Reads a page of metrics as Prometheus would, and complains about what it would.
#pragma once

#include <gtest/gtest.h>

#include <charconv>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace weir {

class PrometheusPage {
 public:
  explicit PrometheusPage(std::string_view text) {
    EXPECT_TRUE(text.empty() || text.back() == '\n') << "the last line must end";
    while (!text.empty()) {
      const std::size_t end = text.find('\n');
      ReadLine(text.substr(0, end));
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
  }

  // By name and labels, as written: `weir_requests_total{namespace="shop",outcome="denied"}`.
  [[nodiscard]] bool Has(const std::string& series) const { return values_.contains(series); }
  [[nodiscard]] double operator[](const std::string& series) const {
    const auto found = values_.find(series);
    if (found != values_.end()) return found->second;
    ADD_FAILURE() << "there is no series " << series;
    return -1;
  }
  [[nodiscard]] const std::map<std::string, double>& values() const { return values_; }
  // "counter" and so on, by the name of the family.
  [[nodiscard]] const std::map<std::string, std::string>& types() const { return types_; }

 private:
  static bool IsName(std::string_view name) {
    const auto is_first = [](char c) {
      return c == '_' || c == ':' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    };
    if (name.empty() || !is_first(name[0])) return false;
    for (const char c : name) {
      if (!is_first(c) && !(c >= '0' && c <= '9')) return false;
    }
    return true;
  }

  void ReadLine(std::string_view line) {
    if (line.starts_with("# HELP ")) {
      const std::string name(line.substr(7, line.find(' ', 7) - 7));
      EXPECT_TRUE(IsName(name)) << line;
      EXPECT_TRUE(helped_.insert(name).second) << "twice: " << line;
    } else if (line.starts_with("# TYPE ")) {
      const std::size_t space = line.find(' ', 7);
      family_ = line.substr(7, space - 7);
      EXPECT_TRUE(helped_.contains(family_)) << "no help: " << line;
      EXPECT_TRUE(types_.emplace(family_, line.substr(space + 1)).second) << "twice: " << line;
    } else {
      ReadSample(line);
    }
  }

  void ReadSample(std::string_view line) {
    const std::size_t end_of_name = line.find_first_of("{ ");
    ASSERT_NE(end_of_name, std::string_view::npos) << line;
    const std::string_view name = line.substr(0, end_of_name);
    EXPECT_TRUE(IsName(name)) << line;
    const bool of_histogram =
        types_[family_] == "histogram" &&
        (name == family_ + "_bucket" || name == family_ + "_sum" || name == family_ + "_count");
    EXPECT_TRUE(name == family_ || of_histogram) << "not of family " << family_ << ": " << line;
    std::size_t at = end_of_name;
    if (line[at] == '{') at = AfterLabels(line, at);
    ASSERT_LT(at, line.size()) << line;
    EXPECT_EQ(line[at], ' ') << line;
    double value = 0;
    const char* const end = line.data() + line.size();
    const auto [stop, problem] = std::from_chars(line.data() + at + 1, end, value);
    EXPECT_TRUE(problem == std::errc{} && stop == end) << "no number: " << line;
    EXPECT_TRUE(values_.emplace(line.substr(0, at), value).second) << "twice: " << line;
  }

  // Where the labels that begin at `at` end.
  static std::size_t AfterLabels(std::string_view line, std::size_t at) {
    do {
      const std::size_t equals = line.find('=', ++at);
      if (equals == std::string_view::npos || line.substr(equals, 2) != "=\"") break;
      EXPECT_TRUE(IsName(line.substr(at, equals - at))) << line;
      for (at = equals + 2; at < line.size() && line[at] != '"'; ++at) {
        if (line[at] != '\\') continue;
        ++at;
        EXPECT_TRUE(at < line.size() &&
                    std::string_view("\\\"n").find(line[at]) != std::string_view::npos)
            << "no such escape: " << line;
      }
      ++at;
    } while (at < line.size() && line[at] == ',');
    EXPECT_TRUE(at < line.size() && line[at] == '}') << line;
    return at + 1;
  }

  std::set<std::string> helped_;
  std::map<std::string, std::string> types_;
  std::map<std::string, double> values_;
  std::string family_;
};

}  // namespace weir
