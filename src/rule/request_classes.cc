#include "rule/request_classes.h"

#include <algorithm>

#include "base/check.h"

namespace weir::rule {

RequestClasses::RequestClasses(const ClassScheme& scheme) : scheme_(scheme), steps_(kPlaces) {
  WEIR_CHECK(scheme.is_usable());
  asked_.reserve(scheme.asked_.size());
  for (const auto& [attribute, patterns] : scheme.asked_) {
    asked_.push_back({attribute, ValueClasses(patterns)});
  }
  Open(0);
}

const RequestClasses::Shape* RequestClasses::Open(std::uint64_t present) {
  if (const auto known = shapes_.find(present); known != shapes_.end()) {
    return last_ = &known->second;
  }
  if (shapes_.size() == kMost) {
    is_full_ = true;
    return nullptr;
  }
  Shape& shape = shapes_[present];
  shape.present = present;
  shape.start = next_state_++;
  for (Asked& asked : asked_) {
    if ((present >> asked.attribute & 1) != 0) shape.asked.push_back(&asked);
  }
  return last_ = &shape;
}

RequestClasses::Class RequestClasses::NetworksOf(const Values& values) {
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

[[gnu::always_inline]] inline bool RequestClasses::Go(std::uint32_t& state, Class known,
                                                      std::uint32_t& numbers) {
  const std::uint32_t from = state << 16 | known;
  const std::size_t place = PlaceOf(from);
  if (steps_[place].from == from) [[likely]] {
    state = steps_[place].to;
    return true;
  }
  state = Learn(place, from, numbers);
  return state != kNone;
}

std::uint32_t RequestClasses::Of(const Values& values) {
  const Shape* shape = last_;
  if (shape->present != values.present()) [[unlikely]] {
    shape = Open(values.present());
    if (shape == nullptr) return kNone;
  }
  Class networks = ValueClasses::kAbsent;
  if (values.Has(Schema::kIpNumber)) {
    if (!values.ip()) return kNone;  // something else stands where an address should
    networks = ValueClasses::kFirst;
    if (scheme_.networks_ && scheme_.networks_->MayMatch(*values.ip())) {
      networks = NetworksOf(values);
      if (networks == ValueClasses::kUnknown) return kNone;
    }
  }
  State state = shape->start;
  for (Asked* const asked : shape->asked) {
    const Class known = asked->classes.Of(values.Present(asked->attribute));
    if (known == ValueClasses::kUnknown) return kNone;
    if (!Go(state, known, next_state_)) return kNone;
  }
  return Go(state, networks, next_class_) ? state : kNone;
}

std::uint32_t RequestClasses::Learn(std::size_t place, std::uint32_t from, std::uint32_t& numbers) {
  for (; steps_[place].from != kNone; place = (place + 1) % kPlaces) {
    if (steps_[place].from == from) return steps_[place].to;
  }
  if (step_count_ == kMostSteps || next_class_ == kMost) {
    is_full_ = true;
    return kNone;
  }
  ++step_count_;
  steps_[place] = {from, numbers++};
  return steps_[place].to;
}

}  // namespace weir::rule
