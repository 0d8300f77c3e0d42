#include "rule/json_object.h"

#include <rapidjson/error/en.h>
#include <rapidjson/reader.h>

#include <algorithm>
#include <limits>

#include "rule/utf8.h"

namespace weir::rule {

// What RapidJSON calls while it reads; `false` ends it.
class JsonObjectReader : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, JsonObjectReader> {
 public:
  using Size = rapidjson::SizeType;

  // NOLINTBEGIN(readability-identifier-naming): RapidJSON's names
  bool Default() { return Scalar(JsonObject::Ignored{}); }
  bool Int(int value) { return Scalar(std::int64_t{value}); }
  bool Uint(unsigned value) { return Scalar(std::int64_t{value}); }
  bool Int64(std::int64_t value) { return Scalar(value); }
  bool Uint64(std::uint64_t value) {
    if (value > std::numeric_limits<std::int64_t>::max()) {
      return Scalar(static_cast<double>(value));
    }
    return Scalar(static_cast<std::int64_t>(value));
  }
  bool Double(double value) { return Scalar(value); }
  bool String(const char* text, Size size, bool /*copy*/) {
    return Scalar(std::string(text, size));
  }
  bool Key(const char* text, Size size, bool /*copy*/) {
    if (depth_ != 1) return true;
    const std::string_view name(text, size);
    if (object_.Find(name) != nullptr) return Refuse("a name is given twice");
    if (object_.members_.size() == JsonObject::kMostMembers) return Refuse("too many members");
    object_.members_.push_back({std::string(name), JsonObject::Ignored{}});
    return true;
  }
  bool StartObject() {
    if (depth_ == 2) NoTexts();
    return Deeper();
  }
  bool EndObject(Size /*members*/) { return Shallower(); }
  bool StartArray() {
    if (depth_ == 0) return Refuse("expected an object");
    if (depth_ == 1) {
      last() = JsonObject::Texts();
      in_texts_ = true;
    } else if (depth_ == 2) {
      NoTexts();
    }
    return Deeper();
  }
  bool EndArray(Size /*elements*/) { return Shallower(); }
  // NOLINTEND(readability-identifier-naming)

  [[nodiscard]] const std::string& refusal() const { return refusal_; }
  [[nodiscard]] JsonObject Take() { return std::move(object_); }

 private:
  JsonObject::Value& last() { return object_.members_.back().value; }

  bool Scalar(JsonObject::Value value) {
    if (depth_ == 0) return Refuse("expected an object");
    if (depth_ == 1) {
      last() = std::move(value);
    } else if (depth_ == 2 && in_texts_) {
      if (auto* text = std::get_if<std::string>(&value)) {
        std::get<JsonObject::Texts>(last()).push_back(std::move(*text));
      } else {
        NoTexts();
      }
    }
    return true;
  }
  // A list of which one element is no text is no list of texts.
  void NoTexts() {
    if (in_texts_) last() = JsonObject::Ignored{};
    in_texts_ = false;
  }
  bool Deeper() { return ++depth_ <= JsonObject::kDeepest || Refuse("nested too deeply"); }
  bool Shallower() {
    if (--depth_ == 1) in_texts_ = false;
    return true;
  }
  bool Refuse(const char* why) {
    refusal_ = why;
    return false;
  }

  JsonObject object_;
  int depth_ = 0;
  bool in_texts_ = false;  // within a list of a member, and all of it so far is text
  std::string refusal_;
};

Result<JsonObject> JsonObject::Parse(std::string text) {
  // Not left to RapidJSON: it reads beyond the end of a text that is cut off within a character,
  // and takes a NUL for the end without seeing what stands behind it.
  if (FirstInvalidUtf8(text) != std::string_view::npos) return Error{"is not UTF-8"};
  rapidjson::InsituStringStream stream(text.data());
  rapidjson::Reader reader;
  JsonObjectReader handler;
  // In place, so that strings need no memory of the reader's. It calls itself for each level, which
  // the handler bounds.
  const rapidjson::ParseResult result = reader.Parse<rapidjson::kParseInsituFlag>(stream, handler);
  if (!handler.refusal().empty()) return Error{handler.refusal()};
  if (result.IsError()) {
    return Error{rapidjson::GetParseError_En(result.Code()) + std::string(" (byte ") +
                 std::to_string(result.Offset()) + ")"};
  }
  return handler.Take();
}

const JsonObject::Value* JsonObject::Find(std::string_view name) const {
  const auto found = std::find_if(members_.begin(), members_.end(),
                                  [name](const Member& member) { return member.name == name; });
  return found == members_.end() ? nullptr : &found->value;
}

const std::string* JsonObject::FindText(std::string_view name) const {
  const Value* value = Find(name);
  return value == nullptr ? nullptr : std::get_if<std::string>(value);
}

}  // namespace weir::rule
