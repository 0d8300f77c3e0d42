#include "net/deadlines.h"

#include <algorithm>
#include <utility>

namespace weir::net {

Deadlines::Entry::~Entry() { Clear(*this); }

void Deadlines::Set(Entry& entry, Instant at) {
  entry.at_ = at;
  if (entry.link_ != nullptr && TickOf(at) >= entry.tick_) return;  // put off
  Clear(entry);
  if (at != Instant::max()) Insert(entry);
}

void Deadlines::Clear(Entry& entry) {
  if (entry.link_ == nullptr) return;
  *entry.link_ = entry.next_;
  if (entry.next_ != nullptr) entry.next_->link_ = entry.link_;
  entry.next_ = nullptr;
  entry.link_ = nullptr;
}

void Deadlines::Insert(Entry& entry) {
  // A tick is looked at when it is over: so nothing is met early.
  const std::int64_t farthest = done_ + static_cast<std::int64_t>(kSlots);
  entry.tick_ = std::clamp(TickOf(entry.at_), done_ + 1, farthest);
  Entry*& head = slots_[static_cast<std::size_t>(entry.tick_) % kSlots];
  entry.next_ = head;
  if (head != nullptr) head->link_ = &entry.next_;
  entry.link_ = &head;
  head = &entry;
}

void Deadlines::Meet(Instant now) {
  const std::int64_t over = TickOf(now) - 1;
  // After a long sleep one round looks at everybody.
  done_ = std::max(done_, over - static_cast<std::int64_t>(kSlots));
  while (done_ < over) {
    ++done_;
    // Taken out first: what is set meanwhile goes elsewhere, also if it is the same slot.
    Entry* due = std::exchange(slots_[static_cast<std::size_t>(done_) % kSlots], nullptr);
    if (due != nullptr) due->link_ = &due;
    while (due != nullptr) {
      Entry& entry = *due;
      Clear(entry);
      if (entry.at_ > now) {
        if (entry.at_ != Instant::max()) Insert(entry);
      } else {
        entry.OnDeadline();
      }
    }
  }
}

}  // namespace weir::net
