#include "frontend/media_type.h"

#include <algorithm>
#include <array>

#include "base/ascii.h"

namespace weir {
namespace {

std::string_view Trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// Takes what stands in front of `separator` off `text`.
std::string_view TakeUntil(char separator, std::string_view& text) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return Trimmed(part);
}

// "0.8" in thousandths; what makes no sense counts as 1, which is what counts where there is none.
int Thousandths(std::string_view quality) {
  if (!quality.starts_with('0')) return 1000;
  int value = 0;
  int worth = 100;
  for (const char c : quality.substr(std::min<std::size_t>(2, quality.size()))) {
    if (c < '0' || c > '9') return 1000;
    value += worth * (c - '0');
    worth /= 10;
  }
  return value;
}

}  // namespace

std::string_view NameOf(Media media) {
  return media == Media::kJson ? "application/json" : "application/yaml";
}

std::optional<Media> MediaOf(std::string_view content_type) {
  const std::string_view type = TakeUntil(';', content_type);
  if (SameIgnoringCase(type, "application/json")) return Media::kJson;
  static constexpr std::array<std::string_view, 4> kYaml = {
      "application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml"};
  const auto same = [type](std::string_view known) { return SameIgnoringCase(type, known); };
  if (std::any_of(kYaml.begin(), kYaml.end(), same)) return Media::kYaml;
  return std::nullopt;
}

std::optional<Media> WantedMedia(std::string_view accept) {
  if (Trimmed(accept).empty()) return Media::kJson;
  std::optional<int> json;
  std::optional<int> yaml;
  int any = 0;  // of what is not named
  while (!accept.empty()) {
    std::string_view range = TakeUntil(',', accept);
    const std::string_view type = TakeUntil(';', range);
    int quality = 1000;
    while (!range.empty()) {
      const std::string_view parameter = TakeUntil(';', range);
      if (parameter.starts_with("q=")) quality = Thousandths(parameter.substr(2));
    }
    if (type == "*/*" || SameIgnoringCase(type, "application/*")) any = std::max(any, quality);
    const std::optional<Media> media = MediaOf(type);
    if (media) (*media == Media::kJson ? json : yaml) = quality;
  }
  const int for_json = json.value_or(any);
  const int for_yaml = yaml.value_or(any);
  if (for_json == 0 && for_yaml == 0) return std::nullopt;
  return for_json >= for_yaml ? Media::kJson : Media::kYaml;
}

}  // namespace weir
