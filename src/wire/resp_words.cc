#include "wire/resp_words.h"

#include <algorithm>

#include "wire/hex.h"

namespace weir::wire {
namespace {

constexpr bool IsBlank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

constexpr char Escaped(char c) {
  switch (c) {
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case 'b':
      return '\b';
    case 'a':
      return '\a';
    default:
      return c;
  }
}

// Reads "..." from behind its opening quote, and is behind its closing one then.
bool ReadDoubleQuoted(std::string_view line, std::size_t& at, std::string& unquoted) {
  for (; at < line.size(); ++at) {
    const char c = line[at];
    const std::size_t after = line.size() - at - 1;
    if (c == '"') return ++at, true;
    if (c != '\\' || after == 0) {
      unquoted += c;
    } else if (const auto byte = line[at + 1] == 'x' && after >= 3
                                     ? HexByte(line[at + 2], line[at + 3])
                                     : std::nullopt) {
      unquoted += *byte;
      at += 3;
    } else {
      unquoted += Escaped(line[++at]);
    }
  }
  return false;
}

bool ReadSingleQuoted(std::string_view line, std::size_t& at, std::string& unquoted) {
  for (; at < line.size(); ++at) {
    if (line[at] == '\'') return ++at, true;
    if (line.substr(at).starts_with("\\'")) ++at;
    unquoted += line[at];
  }
  return false;
}

// Reads the word from `at`, which is behind it then. Its first quote is at `quote`; what is in
// quotes ends the word.
bool ReadWord(std::string_view line, std::size_t& at, std::size_t quote, std::string& unquoted) {
  unquoted += line.substr(at, quote - at);
  at = quote + 1;
  const bool closed = line[quote] == '"' ? ReadDoubleQuoted(line, at, unquoted)
                                         : ReadSingleQuoted(line, at, unquoted);
  return closed && (at == line.size() || IsBlank(line[at]));
}

}  // namespace

RespWords SplitRespWords(std::string_view line, std::size_t most,
                         std::vector<std::string_view>& words, std::string& unquoted) {
  words.clear();
  unquoted.clear();
  for (std::size_t at = 0;;) {
    while (at < line.size() && IsBlank(line[at])) ++at;
    if (at == line.size()) return RespWords::kSplit;
    if (words.size() == most) return RespWords::kTooMany;
    const std::size_t end = std::min(line.find_first_of("\"' \t\r", at), line.size());
    if (end == line.size() || IsBlank(line[end])) {
      words.push_back(line.substr(at, end - at));
      at = end;
      continue;
    }
    unquoted.reserve(line.size());  // nothing grows by losing its quotes: views of it stay
    const std::size_t start = unquoted.size();
    if (!ReadWord(line, at, end, unquoted)) return RespWords::kUnbalanced;
    words.emplace_back(unquoted.data() + start, unquoted.size() - start);
  }
}

}  // namespace weir::wire
