// JSON on a stream: a writer that puts each value on a line of its own, and what commands have in
// common to write.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>

#include "rule/json.h"
#include "rule/problem.h"

namespace weir {

class JsonOutput {
 public:
  explicit JsonOutput(std::ostream& out) : out_(out) {}
  ~JsonOutput() { out_ << "\n"; }
  JsonOutput(const JsonOutput&) = delete;
  JsonOutput& operator=(const JsonOutput&) = delete;

  // `fill` writes a Key() and a value, again and again.
  template <typename Fill>
  void Object(Fill fill) {
    Begin('{');
    fill();
    End('}');
  }
  // `fill` writes one value for each element.
  template <typename Elements, typename Fill>
  void List(const Elements& elements, Fill fill) {
    Begin('[');
    for (const auto& element : elements) fill(element);
    End(']');
  }
  JsonOutput& Key(std::string_view name) {
    Value(rule::JsonString(name) + ": ");
    follows_key_ = true;
    return *this;
  }
  void Text(std::string_view text) { Value(rule::JsonString(text)); }
  void Number(std::int64_t number) { Value(std::to_string(number)); }
  // To six places: fit for measurements.
  void Decimal(double number) { Value(std::to_string(number)); }
  void Flag(bool flag) { Value(flag ? "true" : "false"); }
  // Null if it is empty.
  void TextOrNull(std::string_view text) { Value(text.empty() ? "null" : rule::JsonString(text)); }

  void ProblemList(const rule::Problems& problems) {
    List(problems, [this](const rule::Problem& problem) {
      Object([&] {
        Key("file").Text(problem.file);
        Key("line").Number(problem.place.line);
        Key("column").Number(problem.place.column);
        Key("rule").TextOrNull(problem.rule);
        Key("what").Text(problem.what);
        Key("remedy").TextOrNull(problem.remedy);
      });
    });
  }

 private:
  void Begin(char bracket) {
    Value(std::string(1, bracket));
    ++depth_;
    is_empty_ = true;
  }
  void End(char bracket) {
    --depth_;
    if (!is_empty_) NewLine();
    out_ << bracket;
    is_empty_ = false;
  }
  void Value(std::string_view text) {
    if (!follows_key_ && depth_ > 0) {
      if (!is_empty_) out_ << ",";
      NewLine();
    }
    out_ << text;
    follows_key_ = false;
    is_empty_ = false;
  }
  void NewLine() { out_ << "\n" << std::string(2 * depth_, ' '); }

  std::ostream& out_;
  std::size_t depth_ = 0;
  bool is_empty_ = true;      // the innermost object or list, so far
  bool follows_key_ = false;  // the next value stands behind its key
};

}  // namespace weir
