#include "service/last_lines.h"

#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

namespace weir {
namespace {

constexpr off_t kBlock = 65536;

}  // namespace

void AddLastLines(const Descriptor& file, std::size_t count,
                  const std::function<bool(const std::string&)>& wanted,
                  std::vector<std::string>& lines) {
  struct stat facts {};
  if (fstat(file.get(), &facts) != 0) return;
  std::string held;  // read and not yet told: the end of a line whose beginning is further up
  bool is_complete = false;
  const auto tell = [&] {
    if (is_complete && wanted(held)) lines.push_back(held);
    held.clear();
    is_complete = true;
  };
  for (off_t end = facts.st_size; end > 0 && lines.size() < count;) {
    const off_t begin = std::max<off_t>(0, end - kBlock);
    std::string block(static_cast<std::size_t>(end - begin), '\0');
    if (pread(file.get(), block.data(), block.size(), begin) !=
        static_cast<ssize_t>(block.size())) {
      return;
    }
    std::string_view left = block;
    while (lines.size() < count) {
      const std::size_t newline = left.rfind('\n');
      held.insert(0, left.substr(newline == std::string_view::npos ? 0 : newline + 1));
      if (newline == std::string_view::npos) break;
      tell();
      left = left.substr(0, newline);
    }
    end = begin;
  }
  if (lines.size() < count) tell();
}

}  // namespace weir
