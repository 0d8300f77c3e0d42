// Commands to Redis, as its clients write them: an array of bulk strings.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "wire/resp_reply.h"

namespace weir::wire {

inline void AppendRespCommand(std::initializer_list<std::string_view> words, std::string& out) {
  RespWriter writer(out, RespVersion::k2);
  writer.Array(words.size());
  for (const std::string_view word : words) writer.Bulk(word);
}

}  // namespace weir::wire
