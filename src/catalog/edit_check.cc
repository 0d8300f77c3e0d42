#include "catalog/edit_check.h"

#include <string>

#include "rule/utf8.h"

namespace weir::catalog {
namespace {

std::optional<Error> CheckText(const std::string& what, std::string_view text, std::size_t most) {
  if (text.size() > most) {
    return Error{what + " has " + std::to_string(text.size()) + " bytes; at most " +
                 std::to_string(most) + " are kept"};
  }
  if (const std::size_t at = rule::FirstInvalidUtf8(text); at != std::string_view::npos) {
    return Error{what + " is not valid UTF-8 (or holds a NUL) at byte " + std::to_string(at + 1) +
                 ": '" + rule::Shown(text) + "'"};
  }
  return std::nullopt;
}

std::optional<Error> CheckName(const std::string& what, std::string_view name) {
  if (name.empty()) return Error{what + " is empty; give it a name"};
  return CheckText(what, name, kLongestName);
}

std::optional<Error> CheckEdit(const Edit& edit) {
  if (auto wrong = CheckName("the namespace", edit.space)) return wrong;
  if (auto wrong = CheckName("the name of a rule in " + edit.space, edit.name)) return wrong;
  if (!edit.text) return std::nullopt;
  return CheckText("the text of " + edit.space + "/" + edit.name, *edit.text, kLongestText);
}

}  // namespace

std::optional<Error> CheckEdits(const std::vector<Edit>& edits) {
  if (edits.size() > kMostEdits) {
    return Error{std::to_string(edits.size()) + " edits are too many for one change; at most " +
                 std::to_string(kMostEdits) + " are made at once"};
  }
  for (const Edit& edit : edits) {
    if (auto wrong = CheckEdit(edit)) return wrong;
  }
  return std::nullopt;
}

std::optional<Error> CheckAuthorship(const Authorship& by) {
  if (auto wrong = CheckText("the author of the change", by.author, kLongestAuthor)) return wrong;
  return CheckText("the comment of the change", by.comment, kLongestComment);
}

}  // namespace weir::catalog
