// Small files that are read and written whole.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/descriptor.h"
#include "weir/result.h"

namespace weir {

// Puts `text` in the place of the file, or makes it. Whoever reads sees the old text or the new
// one, also after a crash; it is on the disk when this returns.
std::optional<Error> ReplaceFile(const std::string& path, std::string_view text, mode_t mode);

// Has the name of a file on the disk, which was made or renamed. False, and errno, if it fails.
bool SyncFolderOf(const std::string& path);

// All of an open file; fails if it has more than `most` bytes. `path` is for the error.
Result<std::string> ReadWhole(const Descriptor& file, const std::string& path, std::size_t most);

// "cannot read FILE: No such file or directory", from errno.
Error FileError(std::string_view verb, const std::string& path);

}  // namespace weir
