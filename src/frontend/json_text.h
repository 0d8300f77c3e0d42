// JSON as one line of text: a writer that keeps track of commas, and nothing else.
//
//   JsonText json;
//   json.Object([&] { json.Key("rule").Text(name); json.Key("allowed").Flag(true); });
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include "frontend/problem_details.h"
#include "weir/units.h"

namespace weir {

class JsonText {
 public:
  // `fill` writes a Key() and a value, again and again.
  template <typename Fill>
  void Object(const Fill& fill) {
    Begin('{');
    fill();
    End('}');
  }
  // `fill` writes any number of values.
  template <typename Fill>
  void List(const Fill& fill) {
    Begin('[');
    fill();
    End(']');
  }
  // `write` writes one value for each element.
  template <typename Elements, typename Write>
  void ListOf(const Elements& elements, const Write& write) {
    List([&] {
      for (const auto& element : elements) write(element);
    });
  }
  JsonText& Key(std::string_view name) {
    Separate();
    AppendJsonString(name, text_);
    text_ += ':';
    follows_key_ = true;
    return *this;
  }

  void Text(std::string_view text) {
    Separate();
    AppendJsonString(text, text_);
  }
  // Null if it is empty.
  void TextOrNull(std::string_view text) { text.empty() ? Null() : Text(text); }
  void Number(std::integral auto number) { Raw(std::to_string(number)); }
  void Flag(bool flag) { Raw(flag ? "true" : "false"); }
  void Null() { Raw("null"); }
  // Rounded up: who comes back when told to is never too early. What lasts for ever is null.
  void Millis(Nanos duration) {
    duration == Nanos::max()
        ? Null()
        : Number(std::chrono::ceil<std::chrono::milliseconds>(duration).count());
  }
  // JSON already.
  void Raw(std::string_view json) {
    Separate();
    text_ += json;
  }

  // Of the value that is complete.
  [[nodiscard]] std::string Take() {
    text_ += '\n';
    return std::move(text_);
  }

 private:
  void Begin(char bracket) {
    Separate();
    text_ += bracket;
    is_first_ = true;
  }
  void End(char bracket) {
    text_ += bracket;
    is_first_ = false;
  }
  void Separate() {
    if (!is_first_ && !follows_key_) text_ += ',';
    is_first_ = false;
    follows_key_ = false;
  }

  std::string text_;
  bool is_first_ = true;  // nothing stands before the next value, in its object or list
  bool follows_key_ = false;
};

}  // namespace weir
