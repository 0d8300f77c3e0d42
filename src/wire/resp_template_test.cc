#include "wire/resp_template.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "wire/resp_reply.h"
#include "wire/resp_request.h"

namespace weir::wire {
namespace {

using Words = std::vector<std::string>;

std::string Encoded(const Words& words) {
  std::string bytes;
  RespWriter writer(bytes, RespVersion::k2);
  writer.Array(words.size());
  for (const std::string& word : words) writer.Bulk(word);
  return bytes;
}

RespTemplate Learned(const Words& words, std::uint64_t gaps) {
  RespTemplate learned;
  const std::vector<std::string_view> arguments(words.begin(), words.end());
  EXPECT_TRUE(learned.Learn(arguments, gaps));
  return learned;
}

struct Fit {
  std::size_t size = 0;
  Words words;
};

// From a buffer that is exactly as large as what is in it: a sanitizer sees who reads behind it.
Fit Read(const RespTemplate& learned, std::string_view bytes) {
  const std::vector<char> exact(bytes.begin(), bytes.end());
  Fit fit;
  fit.size = learned.Read(std::string_view(exact.data(), exact.size()),
                          [&](std::size_t gap, std::string_view word) {
                            EXPECT_EQ(gap, fit.words.size());
                            fit.words.emplace_back(word);
                            return true;
                          });
  return fit;
}

TEST(RespTemplateTest, ReadsWhatIsInTheGaps) {
  const RespTemplate learned = Learned({"WEIR.CHECK", "shop", "path", "/", "ip", "::"}, 0b101000);
  const std::string bytes = Encoded({"WEIR.CHECK", "shop", "path", "/orders/17", "ip", ""});
  const Fit fit = Read(learned, bytes + "*1\r\n");
  EXPECT_EQ(fit.size, bytes.size());
  EXPECT_EQ(fit.words, (Words{"/orders/17", ""}));
}

TEST(RespTemplateTest, ReadsACommandThatGoesOnBehindTheLastGap) {
  const RespTemplate learned = Learned({"CL.THROTTLE", "key", "2", "30", "60"}, 0b10);
  const std::string bytes = Encoded({"CL.THROTTLE", "other", "2", "30", "60"});
  EXPECT_EQ(Read(learned, bytes).words, Words{"other"});
  EXPECT_EQ(Read(learned, bytes).size, bytes.size());
  EXPECT_EQ(Read(learned, Encoded({"CL.THROTTLE", "other", "2", "30", "61"})).size, 0);
}

TEST(RespTemplateTest, NothingFitsBeforeAnythingIsLearned) {
  EXPECT_EQ(Read({}, Encoded({"PING", "x"})).size, 0);
  EXPECT_EQ(Read({}, "").size, 0);
}

TEST(RespTemplateTest, WordsInGapsHaveUpToThreeDigitsOfCharacters) {
  const RespTemplate learned = Learned({"ECHO", "x"}, 0b10);
  for (std::size_t size = 0; size < 1100; ++size) {
    const std::string bytes = Encoded({"ECHO", std::string(size, 'x')});
    EXPECT_EQ(Read(learned, bytes).size, size <= RespTemplate::kLongestWord ? bytes.size() : 0);
  }
}

TEST(RespTemplateTest, ACommandThatIsNotAllThereDoesNotFit) {
  const RespTemplate learned =
      Learned({"A", "b", "cc", "d", "eeeeeeeeeeeeeeeeeeeeeeee", "f"}, 0b101010);
  const std::string bytes =
      Encoded({"A", std::string(120, 'x'), "cc", "", "eeeeeeeeeeeeeeeeeeeeeeee", "0123456789"});
  EXPECT_EQ(Read(learned, bytes).size, bytes.size());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_EQ(Read(learned, std::string_view(bytes).substr(0, size)).size, 0) << size;
  }
}

TEST(RespTemplateTest, WhatIsTooLongOrHasNoGapIsNotLearnedAndWhatWasIsForgotten) {
  RespTemplate learned = Learned({"ECHO", "x"}, 0b10);
  const std::string longest(RespTemplate::kMostBytes, 'x');
  EXPECT_FALSE(learned.Learn(std::vector<std::string_view>{longest, "x"}, 0b10));
  EXPECT_EQ(Read(learned, Encoded({"ECHO", "x"})).size, 0);
  const std::vector<std::string_view> many(2 * RespTemplate::kMostGaps + 2, "x");
  EXPECT_FALSE(learned.Learn(many, 0xAAAA'AAAA'AAAA'AAAA));
  EXPECT_FALSE(learned.Learn(std::vector<std::string_view>{"PING"}, 0b10));
  const std::vector<std::string_view> more(100, "x");
  EXPECT_FALSE(learned.Learn(more, 0b10));
}

TEST(RespTemplateTest, AWordThatMayNotBeInAGapDoesNotFit) {
  const RespTemplate learned = Learned({"ECHO", "x"}, 0b10);
  const auto is_even = [](std::size_t, std::string_view word) { return word.size() % 2 == 0; };
  EXPECT_GT(learned.Read(Encoded({"ECHO", "xx"}), is_even), 0);
  EXPECT_EQ(learned.Read(Encoded({"ECHO", "x"}), is_even), 0);
}

// --- whatever is sent: what fits is what the reader of commands finds there, and nothing else

class Chance {
 public:
  explicit Chance(unsigned seed) : random_(seed) {}
  std::size_t Below(std::size_t bound) { return random_() % bound; }
  std::string Word() {
    constexpr std::string_view kCharacters("\r\n$*0123456789abNEXT", 20);
    std::string word;
    // Few are of the lengths at which something changes, and these matter most.
    constexpr std::size_t kSizes[] = {0, 1, 4, 9, 10, 16, 17, 33, 99, 100, 101};
    for (std::size_t size = kSizes[Below(std::size(kSizes))]; size > 0; --size) {
      word += kCharacters[Below(kCharacters.size())];
    }
    return word;
  }

 private:
  std::mt19937 random_;
};

// What the reader makes of it, if it is an array all of which is there.
std::optional<Words> ReadByTheReader(std::string_view bytes, std::size_t& size) {
  RespReader reader;
  std::vector<std::string_view> arguments;
  const RespRequest request = reader.Read(bytes, arguments);
  if (request.status != RespStatus::kCommand) return std::nullopt;
  size = request.consumed;
  return Words(arguments.begin(), arguments.end());
}

TEST(RespTemplateTest, WhatFitsIsWhatTheReaderReadsAndNothingElse) {
  Chance chance(1);
  int fits = 0;
  for (int i = 0; i < 100'000; ++i) {
    Words words(2 + chance.Below(4));
    for (std::string& word : words) word = chance.Word();
    const std::uint64_t gaps = chance.Below(2) == 0 ? 0b101010 : 0b10;
    const RespTemplate learned = Learned(words, gaps);
    const auto is_gap = [&](std::size_t at) { return (gaps >> at & 1) != 0; };
    Words other = words;
    for (std::size_t at = 0; at < words.size(); ++at) {
      if (is_gap(at) || chance.Below(20) == 0) other[at] = chance.Word();
    }
    std::string bytes = Encoded(other);
    if (chance.Below(2) == 0) {
      constexpr std::string_view kCharacters = "\r\n$*0189";
      const std::size_t at = chance.Below(bytes.size());
      const char c = kCharacters[chance.Below(kCharacters.size())];
      const std::size_t how = chance.Below(3);
      if (how == 0) bytes[at] = c;
      if (how == 1) bytes.insert(at, 1, c);
      if (how == 2) bytes.erase(at, 1);
    }
    std::size_t size = 0;
    const std::optional<Words> read = ReadByTheReader(bytes, size);
    bool is_like_it = read && bytes[0] == '*' && read->size() == words.size();
    Words in_gaps;
    for (std::size_t at = 0; is_like_it && at < words.size(); ++at) {
      if (is_gap(at)) {
        in_gaps.push_back((*read)[at]);
      } else {
        is_like_it = (*read)[at] == words[at];
      }
    }
    const Fit fit = Read(learned, bytes);
    ASSERT_EQ(fit.size, is_like_it ? size : 0) << bytes;
    if (!is_like_it) continue;
    ASSERT_EQ(fit.words, in_gaps);
    ++fits;
  }
  EXPECT_GT(fits, 20'000);
}

}  // namespace
}  // namespace weir::wire
