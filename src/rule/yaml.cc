#include "rule/yaml.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <istream>
#include <streambuf>
#include <unordered_set>

#include "rule/utf8.h"

namespace weir::rule {
namespace {

// Thrown through the parser to end it; never leaves this file.
struct Stop {
  Place place;
  std::string what;
  std::string remedy;
};

// Some of the parser's errors have no place, which it says with -1.
Place PlaceOf(const YAML::Mark& mark) {
  return {std::max(mark.line, 0) + 1, std::max(mark.column, 0) + 1};
}

// Builds the tree from the parser's events, so that nothing is built that is over a limit.
class Builder final : public YAML::EventHandler {
 public:
  Builder(YamlNode& root, const YamlLimits& limits) : root_(root), limits_(limits) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    Note(mark);
    if (documents_++ > 0) {
      throw Stop{PlaceOf(mark), "a second document begins here", "keep one document per file"};
    }
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    RefuseAnchor(mark, anchor);
    Add(mark, YamlNode::Kind::kNull, {}, false);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override {
    throw Stop{PlaceOf(mark), "aliases (*name) are not read", "write the value out"};
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    RefuseAnchor(mark, anchor);
    RefuseTag(mark, tag);
    if (value.find('\0') != std::string::npos) {
      throw Stop{PlaceOf(mark), "there is a NUL (\\0) in this text", "remove it"};
    }
    last_scalar_ = static_cast<std::size_t>(mark.pos);
    Add(mark, YamlNode::Kind::kScalar, value, tag == "!");
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    Open(mark, tag, anchor, YamlNode::Kind::kList);
  }
  void OnSequenceEnd() override { open_.pop_back(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    Open(mark, tag, anchor, YamlNode::Kind::kMap);
  }
  void OnMapEnd() override { open_.pop_back(); }

  // How often the parser told something, and where that stood last.
  [[nodiscard]] std::size_t events() const { return events_; }
  [[nodiscard]] Place last_place() const { return last_place_; }
  // The offset of the last scalar in the text, or npos.
  [[nodiscard]] std::size_t last_scalar() const { return last_scalar_; }

 private:
  // A list or map that is not complete yet.
  struct OpenNode {
    YamlNode* node;
    bool key_is_next = true;
    std::unordered_set<std::string> keys = {};
  };

  void Note(const YAML::Mark& mark) {
    ++events_;
    last_place_ = PlaceOf(mark);
  }

  static void RefuseAnchor(const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (anchor != 0) {
      throw Stop{PlaceOf(mark), "anchors (&name) are not read", "write the value out"};
    }
  }
  // "?" and "!" are the parser's own words for plain and quoted scalars.
  static void RefuseTag(const YAML::Mark& mark, const std::string& tag) {
    if (!tag.empty() && tag != "?" && tag != "!") {
      throw Stop{PlaceOf(mark), "tags (!name) are not read", "leave the tag out"};
    }
  }

  void Open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
            YamlNode::Kind kind) {
    RefuseAnchor(mark, anchor);
    RefuseTag(mark, tag);
    if (!open_.empty() && open_.back().node->kind == YamlNode::Kind::kMap &&
        open_.back().key_is_next) {
      // What the parser makes of a bracket that is never closed, too.
      throw Stop{PlaceOf(mark), "this is not closed, or stands where a key should, which is text",
                 "close the bracket, or write 'name: value'"};
    }
    if (static_cast<int>(open_.size()) >= limits_.depth) {
      throw Stop{PlaceOf(mark), "nested deeper than " + std::to_string(limits_.depth) + " levels",
                 "no rule needs that"};
    }
    open_.push_back({&Add(mark, kind, {}, false)});
  }

  // Adds a node where the parser stands, and returns it. Its address is good until its parent gets
  // another child, and by then it is complete.
  YamlNode& Add(const YAML::Mark& mark, YamlNode::Kind kind, const std::string& scalar,
                bool quoted) {
    Note(mark);
    if (++nodes_ > limits_.nodes) {
      throw Stop{PlaceOf(mark), "more than " + std::to_string(limits_.nodes) + " values",
                 "split the file"};
    }
    if (open_.empty()) return Fill(root_, mark, kind, scalar, quoted);
    OpenNode& parent = open_.back();
    if (parent.node->kind == YamlNode::Kind::kList) {
      return Fill(parent.node->list.emplace_back(), mark, kind, scalar, quoted);
    }
    if (!parent.key_is_next) {
      parent.key_is_next = true;
      YamlNode& value = Fill(parent.node->map.back().value, mark, kind, scalar, quoted);
      // Where there is nothing, the parser stands at whatever comes next, lines below.
      if (kind == YamlNode::Kind::kNull) value.place = parent.node->map.back().place;
      return value;
    }
    if (kind != YamlNode::Kind::kScalar || scalar.empty()) {
      throw Stop{PlaceOf(mark), "a key must be text", "write it as 'name: value'"};
    }
    if (scalar.size() > limits_.key_bytes) {
      throw Stop{PlaceOf(mark),
                 "a key is longer than " + std::to_string(limits_.key_bytes) + " bytes",
                 "no rule needs that"};
    }
    if (!parent.keys.insert(scalar).second) {
      throw Stop{PlaceOf(mark), "'" + Shown(scalar) + "' is given twice", "keep one of them"};
    }
    parent.key_is_next = false;
    YamlNode::Entry& entry = parent.node->map.emplace_back();
    entry.key = scalar;
    entry.place = PlaceOf(mark);
    entry.value.place = entry.place;
    return entry.value;
  }

  static YamlNode& Fill(YamlNode& node, const YAML::Mark& mark, YamlNode::Kind kind,
                        const std::string& scalar, bool quoted) {
    node.kind = kind;
    node.place = PlaceOf(mark);
    node.scalar = scalar;
    node.quoted = quoted;
    return node;
  }

  YamlNode& root_;
  const YamlLimits& limits_;
  std::vector<OpenNode> open_;
  std::size_t nodes_ = 0;
  std::size_t events_ = 0;
  Place last_place_ = {1, 1};
  std::size_t last_scalar_ = std::string::npos;
  int documents_ = 0;
};

// Hands the text to the parser as it asks for it, and sees how far ahead it reads: inside brackets
// it puts away everything up to the closing one, at some hundred bytes for each of the text, before
// it tells us of any. So depth and nodes are not all that has to be bounded.
class MeteredText final : public std::streambuf {
 public:
  MeteredText(std::string_view text, std::size_t most, const Builder& builder)
      : most_(most), builder_(builder) {
    char* begin = const_cast<char*>(text.data());  // is only read, but for that has no name
    setg(begin, begin, begin + text.size());
  }

 protected:
  std::streamsize xsgetn(char* into, std::streamsize size) override {
    const std::streamsize taken = std::streambuf::xsgetn(into, size);
    if (builder_.events() != events_) ahead_ = 0;
    events_ = builder_.events();
    ahead_ += static_cast<std::size_t>(taken);
    if (ahead_ > most_) {
      throw Stop{builder_.last_place(),
                 "what follows here, in brackets or as one text, is longer than " +
                     std::to_string(most_ >> 10) + " KiB",
                 "write each element on a line of its own, behind a dash"};
    }
    return taken;
  }

 private:
  std::size_t most_;
  const Builder& builder_;
  std::size_t events_ = 0;
  std::size_t ahead_ = 0;  // bytes taken since the last event
};

// The parser takes the end of the text for the end of a quote. False if the scalar at `start` is
// such a one.
bool IsClosed(std::string_view text, std::size_t start) {
  const char quote = start < text.size() ? text[start] : ' ';
  if (quote != '"' && quote != '\'') return true;
  for (std::size_t i = start + 1; i < text.size(); ++i) {
    const bool pair = quote == '"' ? text[i] == '\\' : text.substr(i, 2) == "''";
    if (pair) {
      ++i;
    } else if (text[i] == quote) {
      return true;
    }
  }
  return false;
}

// What to do about an error of the parser, where its own words do not say it.
std::string RemedyFor(const YAML::Exception& problem, std::string_view text) {
  const std::size_t pos =
      std::min(static_cast<std::size_t>(std::max(problem.mark.pos, 0)), text.size());
  const std::string_view line = text.substr(text.substr(0, pos).rfind('\n') + 1);
  const std::string_view indentation = line.substr(0, line.find_first_not_of(" \t"));
  if (indentation.find('\t') != std::string_view::npos) return "indent with blanks, not with tabs";
  if (problem.msg == YAML::ErrorMsg::UNKNOWN_ANCHOR) {
    return "write text that begins with '*' in quotes";
  }
  if (problem.msg == YAML::ErrorMsg::EOF_IN_SCALAR) return "close the quote";
  if (problem.msg == YAML::ErrorMsg::MAP_VALUE) return "write text that holds ': ' in quotes";
  if (problem.msg == YAML::ErrorMsg::END_OF_MAP || problem.msg == YAML::ErrorMsg::END_OF_SEQ) {
    return "let all lines of a map or list begin in the same column";
  }
  if (problem.msg.starts_with(YAML::ErrorMsg::INVALID_ESCAPE)) {
    return "write \\ as \\\\, or use single quotes";
  }
  return {};
}

std::size_t FirstControlCharacter(std::string_view text) {
  const auto found = std::find_if(text.begin(), text.end(), [](char c) {
    return (c >= 0 && c < ' ' && c != '\n' && c != '\t' && c != '\r') || c == 0x7F;
  });
  return found != text.end() ? static_cast<std::size_t>(found - text.begin())
                             : std::string_view::npos;
}

Place PlaceAt(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const auto lines = std::count(before.begin(), before.end(), '\n');
  const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
  return {static_cast<int>(lines) + 1, static_cast<int>(offset - line_start) + 1};
}

}  // namespace

std::string YamlNode::Describe() const {
  switch (kind) {
    case Kind::kNull:
      return "nothing";
    case Kind::kScalar:
      return "'" + Shown(scalar) + "'";
    case Kind::kList:
      return "a list";
    case Kind::kMap:
      return "a map";
  }
  return {};
}

const YamlNode* YamlNode::Find(std::string_view key) const {
  const auto entry =
      std::find_if(map.begin(), map.end(), [key](const Entry& e) { return e.key == key; });
  return entry != map.end() ? &entry->value : nullptr;
}

bool ReadYaml(std::string_view text, const std::string& file, YamlNode& root, Problems& problems,
              const YamlLimits& limits) {
  const auto fail = [&](Place place, std::string what, std::string remedy) {
    problems.push_back({file, place, "", std::move(what), std::move(remedy)});
    return false;
  };
  if (text.size() > limits.bytes) {
    return fail({}, "the file is larger than " + std::to_string(limits.bytes >> 20) + " MiB",
                "split it");
  }
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  if (const std::size_t bad = FirstInvalidUtf8(text); bad != std::string_view::npos) {
    return fail(PlaceAt(text, bad), "this is not UTF-8", "save the file as UTF-8");
  }
  // The parser takes one of them for the end of the text.
  if (const std::size_t bad = FirstControlCharacter(text); bad != std::string_view::npos) {
    return fail(PlaceAt(text, bad), "there is a control character here", "remove it");
  }
  root = {};
  root.place = {1, 1};
  try {
    Builder builder(root, limits);
    MeteredText metered(text, limits.bytes_ahead, builder);
    std::istream stream(&metered);
    stream.exceptions(std::ios::badbit);  // lets Stop through
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
    if (const std::size_t last = builder.last_scalar(); !IsClosed(text, last)) {
      return fail(PlaceAt(text, last), "this quote is not closed", "close it");
    }
    return true;
  } catch (const Stop& stop) {
    return fail(stop.place, stop.what, stop.remedy);
  } catch (const YAML::Exception& problem) {
    return fail(PlaceOf(problem.mark), "this is not YAML: " + problem.msg,
                RemedyFor(problem, text));
  } catch (const std::exception& problem) {
    return fail({1, 1}, std::string("this cannot be read as YAML: ") + problem.what(), "");
  }
}

}  // namespace weir::rule
