// The words of a command that is a line, with the quotes Redis knows:
//
//   SET key "two words\r\n\x00" 'it\'s'
//
// In "..." a backslash begins \n \r \t \b \a, \xHH or the character itself; in '...' only \'. A
// closing quote ends the word.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weir::wire {

enum class RespWords : std::uint8_t { kSplit, kUnbalanced, kTooMany };

// Words are views of `line`, those with quotes of `unquoted`; both are cleared first.
RespWords SplitRespWords(std::string_view line, std::size_t most,
                         std::vector<std::string_view>& words, std::string& unquoted);

}  // namespace weir::wire
