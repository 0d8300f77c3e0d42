#include "rule/yaml.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <sstream>
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

Place PlaceOf(const YAML::Mark& mark) { return {mark.line + 1, mark.column + 1}; }

// Builds the tree from the parser's events, so that nothing is built that is over a limit.
class Builder final : public YAML::EventHandler {
 public:
  Builder(YamlNode& root, const YamlLimits& limits) : root_(root), limits_(limits) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
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
    const bool quoted = tag == "!";
    const bool null = !quoted && (value.empty() || value == "~" || value == "null");
    Add(mark, null ? YamlNode::Kind::kNull : YamlNode::Kind::kScalar, value, quoted);
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

 private:
  // A list or map that is not complete yet.
  struct OpenNode {
    YamlNode* node;
    bool key_is_next = true;
    std::unordered_set<std::string> keys = {};
  };

  static void RefuseAnchor(const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (anchor != 0) {
      throw Stop{PlaceOf(mark), "anchors (&name) are not read", "write the value out"};
    }
  }
  // "?" and "!" are the parser's own words for plain and quoted scalars.
  static void RefuseTag(const YAML::Mark& mark, const std::string& tag) {
    if (!tag.empty() && tag != "?" && tag != "!") {
      throw Stop{PlaceOf(mark), "tags (!name) are not read", "write the value in quotes"};
    }
  }

  void Open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
            YamlNode::Kind kind) {
    RefuseAnchor(mark, anchor);
    RefuseTag(mark, tag);
    if (!open_.empty() && open_.back().node->kind == YamlNode::Kind::kMap &&
        open_.back().key_is_next) {
      throw Stop{PlaceOf(mark), "a key must be text", "write it as 'name: value'"};
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
      return Fill(parent.node->map.back().value, mark, kind, scalar, quoted);
    }
    if (kind != YamlNode::Kind::kScalar || scalar.empty()) {
      throw Stop{PlaceOf(mark), "a key must be text", "write it as 'name: value'"};
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
  int documents_ = 0;
};

// The parser calls itself for each level of nesting, before it tells us of any: so this is seen to
// before it starts. Counts brackets of the flow style, and the dashes of "- - - -"; text in quotes
// counts too, which errs on the safe side. (Indented levels grow a line each and are few.)
const char* DeepestLine(std::string_view text, int most) {
  int brackets = 0;
  int dashes = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\n') dashes = 0;
    if (c == '[' || c == '{') ++brackets;
    if ((c == ']' || c == '}') && brackets > 0) --brackets;
    if ((c == '-' || c == '?' || c == ':') && i + 1 < text.size() && text[i + 1] == ' ') ++dashes;
    if (brackets > most || dashes > most) return text.data() + i;
  }
  return nullptr;
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
  if (const std::size_t bad = FirstInvalidUtf8(text); bad != std::string_view::npos) {
    return fail(PlaceAt(text, bad), "this is not UTF-8", "save the file as UTF-8");
  }
  // Far above what the tree may hold: a glob in quotes has brackets too.
  if (const char* deep = DeepestLine(text, 8 * limits.depth)) {
    return fail(PlaceAt(text, static_cast<std::size_t>(deep - text.data())),
                "nested deeper than " + std::to_string(limits.depth) + " levels",
                "no rule needs that");
  }
  root = {};
  root.place = {1, 1};
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    Builder builder(root, limits);
    while (parser.HandleNextDocument(builder)) {
    }
    return true;
  } catch (const Stop& stop) {
    return fail(stop.place, stop.what, stop.remedy);
  } catch (const YAML::Exception& problem) {
    return fail(PlaceOf(problem.mark), "this is not YAML: " + problem.msg, "");
  }
}

}  // namespace weir::rule
