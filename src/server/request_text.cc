#include "server/request_text.h"

#include "rule/utf8.h"

namespace weir {
namespace {

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\n'; }

// The next word, without its quotes; `rest` is then what follows it.
Result<std::string> TakeWord(std::string_view& rest) {
  std::string word;
  char quote = 0;
  std::size_t i = 0;
  for (; i < rest.size() && (quote != 0 || !IsBlank(rest[i])); ++i) {
    if (rest[i] == '\\' && i + 1 < rest.size()) {
      word += rest[++i];
    } else if (quote == 0 && (rest[i] == '"' || rest[i] == '\'')) {
      quote = rest[i];
    } else if (quote != 0 && rest[i] == quote) {
      quote = 0;
    } else {
      word += rest[i];
    }
  }
  if (quote != 0) {
    return Error{"'" + rule::Shown(rest) + "': the quote is never closed; close it, or write \\" +
                 quote};
  }
  rest.remove_prefix(i);
  return word;
}

}  // namespace

Result<RequestAttributes> ParseRequest(std::string_view text) {
  RequestAttributes attributes;
  for (;;) {
    while (!text.empty() && IsBlank(text.front())) text.remove_prefix(1);
    if (text.empty()) return attributes;
    Result<std::string> word = TakeWord(text);
    if (!word) return word.error();
    const std::size_t equals = word->find('=');
    if (equals == 0 || equals == std::string::npos) {
      return Error{"'" + rule::Shown(*word) +
                   "' is no attribute of a request; write NAME=VALUE, such as path=/login, with "
                   "quotes around a value that has blanks"};
    }
    std::string name = word->substr(0, equals);
    if (name.starts_with("header.")) {
      for (char& c : name) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
      }
    }
    attributes.emplace_back(std::move(name), word->substr(equals + 1));
  }
}

}  // namespace weir
