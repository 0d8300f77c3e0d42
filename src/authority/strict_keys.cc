#include "authority/strict_keys.h"

#include <iterator>

namespace weir::authority {

std::shared_ptr<StrictKey> StrictKeys::At(std::string_view name) {
  if (const auto found = by_name_.find(name); found != by_name_.end()) {
    keys_.splice(keys_.begin(), keys_, found->second);
    return *found->second;
  }
  MakeRoom();
  auto key = std::make_shared<StrictKey>();
  key->name = name;
  if (place_of_) key->place = place_of_(name);
  keys_.push_front(key);
  by_name_.emplace(key->name, keys_.begin());
  return key;
}

StrictKey* StrictKeys::Find(std::string_view name) {
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) return nullptr;
  keys_.splice(keys_.begin(), keys_, found->second);
  return found->second->get();
}

// One that somebody waits for is passed over, or he would be asked beside himself.
void StrictKeys::MakeRoom() {
  constexpr int kMostTries = 16;
  for (int tries = 0; tries < kMostTries && keys_.size() >= most_; ++tries) {
    const StrictKey& oldest = *keys_.back();
    if (oldest.exchange != nullptr || !oldest.waiting.empty()) {
      keys_.splice(keys_.begin(), keys_, std::prev(keys_.end()));
      continue;
    }
    by_name_.erase(oldest.name);
    keys_.pop_back();
  }
}

}  // namespace weir::authority
