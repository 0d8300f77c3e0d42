#include "rule/request_classes.h"

#include <algorithm>

#include "base/check.h"

namespace weir::rule {

RequestClasses::RequestClasses(const ClassScheme& scheme) : scheme_(scheme), entries_(kEntries) {
  WEIR_CHECK(scheme.is_usable());
  asked_.reserve(scheme.asked_.size());
  for (const auto& [attribute, patterns] : scheme.asked_) {
    asked_.push_back({attribute, ValueClasses(patterns)});
  }
}

std::size_t RequestClasses::PlaceOf(const Signs& signs) {
  std::uint64_t sum = signs.present * 0x9E3779B97F4A7C15;
  std::uint64_t factor = 0xD6E8FEB86659FD93;
  for (const std::uint64_t classes : signs.classes) {
    sum += classes * factor;
    factor = factor * 0x2545F4914F6CDD1D + 2;  // known when this is compiled
  }
  static_assert(kEntries == std::size_t{1} << 10);
  return (sum ^ sum >> 32) * 0x9E3779B97F4A7C15 >> (64 - 10);
}

RequestClasses::Class RequestClasses::NetworksOf(const Values& values) {
  if (!scheme_.networks_) return ValueClasses::kFirst;
  Hits hits;
  scheme_.networks_->Find(values[Schema::kIpNumber], values.ip(), hits);
  if (hits.empty()) return ValueClasses::kFirst;
  // Looked up in a list that is used again: only what is new takes memory.
  in_networks_.assign(hits.begin(), hits.end());
  std::sort(in_networks_.begin(), in_networks_.end());
  in_networks_.erase(std::unique(in_networks_.begin(), in_networks_.end()), in_networks_.end());
  if (const auto known = by_networks_.find(in_networks_); known != by_networks_.end()) {
    return known->second;
  }
  if (by_networks_.size() == kMost) return ValueClasses::kUnknown;
  const auto next = static_cast<Class>(ValueClasses::kFirst + 1 + by_networks_.size());
  return by_networks_.emplace(in_networks_, next).first->second;
}

std::uint32_t RequestClasses::Of(const Values& values) {
  Signs signs;
  signs.present = values.present();
  Class network = ValueClasses::kAbsent;
  if (values.Has(Schema::kIpNumber)) {
    if (!values.ip()) return kNone;  // something else stands where an address should
    network = NetworksOf(values);
    if (network == ValueClasses::kUnknown) return kNone;
  }
  std::uint64_t word = network;
  std::size_t words = 0;
  std::size_t in_word = 1;
  for (Asked& asked : asked_) {
    Class value_class = ValueClasses::kAbsent;
    if (values.Has(asked.attribute)) {
      value_class = asked.classes.Of(values[asked.attribute]);
      if (value_class == ValueClasses::kUnknown) return kNone;
    }
    word = word << 16 | value_class;
    if (++in_word == 4) {
      signs.classes[words++] = word;
      word = 0;
      in_word = 0;
    }
  }
  if (in_word != 0) signs.classes[words] = word;
  for (std::size_t place = PlaceOf(signs);; place = (place + 1) % kEntries) {
    const Entry& entry = entries_[place];
    if (entry.number == kNone) return Add(signs);
    if (entry.signs == signs) return entry.number;
  }
}

std::uint32_t RequestClasses::Add(const Signs& signs) {
  if (count_ == kMost) {
    is_full_ = true;
    return kNone;
  }
  std::size_t place = PlaceOf(signs);
  while (entries_[place].number != kNone) place = (place + 1) % kEntries;
  entries_[place] = {signs, count_};
  return count_++;
}

}  // namespace weir::rule
