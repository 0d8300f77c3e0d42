#include "rule/forwarded.h"

#include <algorithm>

#include "base/text.h"
#include "rule/field_name.h"

namespace weir::rule {
namespace {

constexpr std::size_t kNowhere = std::string_view::npos;

std::string_view NameOf(ForwardedHeader header) {
  switch (header) {
    case ForwardedHeader::kXForwardedFor:
      return "x-forwarded-for";
    case ForwardedHeader::kForwarded:
      return "forwarded";
    case ForwardedHeader::kNone:
      break;
  }
  return {};
}

bool IsTokenCharacter(char c) {
  return (c >= '0' && c <= '9') || (ToLower(c) >= 'a' && ToLower(c) <= 'z') ||
         (c != '\0' && std::string_view("!#$%&'*+-.^_`|~").find(c) != kNowhere);
}

bool IsToken(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), IsTokenCharacter);
}

// ":4711", or a name that hides the number: ":_gateway".
bool IsPort(std::string_view text) {
  if (!text.starts_with(':')) return false;
  text.remove_prefix(1);
  if (text.starts_with('_')) return IsToken(text.substr(1));
  const Result<std::uint64_t> port = ParseCount(text);
  return port && text.size() <= 5 && *port <= 65535;
}

// "203.0.113.7", "203.0.113.7:80", "2001:db8::1", "[2001:db8::1]", "[2001:db8::1]:80".
std::optional<Address> ParseNode(std::string_view text) {
  if (const std::optional<Address> alone = Address::Parse(text)) return alone;  // most of them
  if (text.starts_with('[')) {
    const std::size_t close = text.find(']');
    if (close == kNowhere) return std::nullopt;
    const std::string_view rest = text.substr(close + 1);
    if (!rest.empty() && !IsPort(rest)) return std::nullopt;
    const std::string_view inside = text.substr(1, close - 1);
    if (inside.find(':') == kNowhere) return std::nullopt;  // brackets are for IPv6
    return Address::Parse(inside);
  }
  // An IPv6 address has two colons at least, so one alone is in front of a port.
  const std::size_t colon = text.find(':');
  if (colon != kNowhere && text.find(':', colon + 1) == kNowhere) {
    if (!IsPort(text.substr(colon))) return std::nullopt;
    text = text.substr(0, colon);
  }
  return Address::Parse(text);
}

// The value at the start of `rest`, which is left at what follows it. A backslash stays where it
// is: no address needs one.
std::optional<std::string_view> TakeValue(std::string_view& rest) {
  if (!rest.starts_with('"')) {
    const std::string_view value = Trimmed(rest.substr(0, rest.find(';')));
    rest.remove_prefix(std::min(rest.size(), rest.find(';')));
    if (value.empty() || value.find_first_of("\" \t") != kNowhere) return std::nullopt;
    return value;
  }
  std::size_t end = 1;
  while (end < rest.size() && rest[end] != '"') end += rest[end] == '\\' ? 2 : 1;
  if (end >= rest.size()) return std::nullopt;
  const std::string_view value = rest.substr(1, end - 1);
  rest = Trimmed(rest.substr(end + 1));
  return value;
}

// The address of `for` in "for=203.0.113.7;proto=https". Nothing if the element is not of this
// form, all of it.
std::optional<Address> ParseElement(std::string_view rest) {
  std::optional<std::string_view> node;
  while (true) {
    rest = Trimmed(rest);
    if (!rest.empty() && rest.front() != ';') {
      const std::size_t equals = rest.find('=');
      if (equals == kNowhere || !IsToken(rest.substr(0, equals))) return std::nullopt;
      const bool is_for = SameIgnoringCase(rest.substr(0, equals), "for");
      rest.remove_prefix(equals + 1);
      const std::optional<std::string_view> value = TakeValue(rest);
      if (!value || (is_for && node)) return std::nullopt;
      if (is_for) node = value;
    }
    if (rest.empty()) break;
    if (rest.front() != ';') return std::nullopt;
    rest.remove_prefix(1);
  }
  return node ? ParseNode(*node) : std::nullopt;
}

// Is the quote behind `before` one that a backslash makes part of its string?
bool IsEscaped(std::string_view before) {
  const std::size_t last = before.find_last_not_of('\\');
  const std::size_t backslashes = last == kNowhere ? before.size() : before.size() - last - 1;
  return backslashes % 2 == 1;
}

// Where the last entry of `list` begins; kNowhere if it is too long. Going left, a quoted string is
// entered at its closing quote, so a well-formed entry is read rightly whatever stands before it.
std::size_t StartOfLastEntry(std::string_view list, ForwardedHeader header) {
  const std::size_t stop =
      list.size() > ForwardedWalk::kLongestEntry ? list.size() - ForwardedWalk::kLongestEntry : 0;
  if (header == ForwardedHeader::kXForwardedFor) {  // which has no quotes
    if (stop == 0 && list.find(',') == kNowhere) return 0;
    std::size_t i = list.size();
    while (i > stop && list[i - 1] != ',') --i;
    return i > stop || stop == 0 ? i : kNowhere;
  }
  bool quoted = false;
  for (std::size_t i = list.size(); i > stop; --i) {
    const char c = list[i - 1];
    if (c == ',' && !quoted) return i;
    if (c == '"') {
      if (!quoted || !IsEscaped(list.substr(stop, i - 1 - stop))) quoted = !quoted;
    }
  }
  return stop == 0 ? 0 : kNowhere;
}

}  // namespace

ForwardedWalk::ForwardedWalk(ForwardedHeader header, HeaderFields fields)
    : header_(header),
      fields_(fields),
      entries_left_(header == ForwardedHeader::kNone ? 0 : kMostEntries) {}

std::optional<Address> ForwardedWalk::Next() {
  std::optional<Address> address;
  if (entries_left_ > 0) {
    if (const auto entry = TakeEntry()) {
      address = header_ == ForwardedHeader::kForwarded ? ParseElement(*entry) : ParseNode(*entry);
    }
  }
  entries_left_ = address ? entries_left_ - 1 : 0;
  return address;
}

bool ForwardedWalk::FindLine() {
  if (line_) return true;
  const std::string_view name = NameOf(header_);
  std::size_t left = fields_.size();
  while (left > 0 && !line_) {
    const HeaderField& field = fields_[--left];
    if (SameFieldName(field.name, name)) line_ = field.value;
  }
  fields_ = fields_.first(left);
  return line_.has_value();
}

std::optional<std::string_view> ForwardedWalk::TakeEntry() {
  if (!FindLine()) return std::nullopt;
  const std::size_t start = StartOfLastEntry(*line_, header_);
  if (start == kNowhere) return std::nullopt;
  const std::string_view entry = Trimmed(line_->substr(start));
  if (start == 0) {
    line_.reset();
  } else {
    line_ = line_->substr(0, start - 1);
  }
  return entry;
}

}  // namespace weir::rule
