// What may be put into the database: text that both kinds of database keep as it is, and no more of
// it than is sane.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "catalog/rule_store.h"

namespace weir::catalog {

// In bytes.
inline constexpr std::size_t kLongestName = 128;  // also of a namespace
inline constexpr std::size_t kLongestText = 1024 * 1024;
inline constexpr std::size_t kLongestAuthor = 256;
inline constexpr std::size_t kLongestComment = 4096;
inline constexpr std::size_t kMostEdits = 100'000;  // in one transaction

// What is wrong, if anything is.
std::optional<Error> CheckEdits(const std::vector<Edit>& edits);
std::optional<Error> CheckAuthorship(const Authorship& by);

}  // namespace weir::catalog
