// JSON on a stream: a writer that puts each value on a line of its own, and what commands have in
// common to write.
#pragma once

#include <rapidjson/ostreamwrapper.h>
#include <rapidjson/prettywriter.h>

#include <cstdint>
#include <ostream>
#include <string_view>

#include "rule/problem.h"

namespace weir {

class JsonOutput {
 public:
  explicit JsonOutput(std::ostream& out) : out_(out), stream_(out), writer_(stream_) {
    writer_.SetIndent(' ', 2);
  }
  ~JsonOutput() { out_ << "\n"; }
  JsonOutput(const JsonOutput&) = delete;
  JsonOutput& operator=(const JsonOutput&) = delete;

  template <typename Fill>
  JsonOutput& Object(Fill fill) {
    writer_.StartObject();
    fill();
    writer_.EndObject();
    return *this;
  }
  template <typename Each, typename Fill>
  JsonOutput& List(const Each& elements, Fill fill) {
    writer_.StartArray();
    for (const auto& element : elements) fill(element);
    writer_.EndArray();
    return *this;
  }
  JsonOutput& Key(std::string_view name) {
    writer_.Key(name.data(), static_cast<rapidjson::SizeType>(name.size()));
    return *this;
  }
  void Text(std::string_view text) {
    writer_.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
  }
  void Number(std::int64_t number) { writer_.Int64(number); }
  void Flag(bool flag) { writer_.Bool(flag); }
  void Null() { writer_.Null(); }
  // Null if it is empty.
  void TextOrNull(std::string_view text) { text.empty() ? Null() : Text(text); }

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
  std::ostream& out_;
  rapidjson::OStreamWrapper stream_;
  rapidjson::PrettyWriter<rapidjson::OStreamWrapper> writer_;
};

}  // namespace weir
