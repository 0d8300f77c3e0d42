#include "limiter/key_states.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <new>
#include <span>

#include "base/time.h"

namespace weir {

using algorithm::Plan;
using table::RecordWord;
using table::Slot;

KeyStates::KeyStates(table::Memory memory) : table_(std::move(memory), *this) {
  const std::size_t words = table_.memory().header().identity.geometry.record_words;
  if (words > 0) {
    records_.emplace(table_);
    blank_.resize(words);
  }
}

void KeyStates::TakeEach(const Planned& planned, std::span<const HashedAsk> asks,
                         std::span<Decision> decisions, Instant now) noexcept {
  const table::Table::Map map = table_.map();
  const std::uint16_t kind = KindOf(planned);
  const auto key_of = [map, kind](const HashedAsk& ask) {
    return map.KeyOf(ask.key.low, ask.key.high, kind);
  };
  const auto each = [asks, map, key_of](const auto& take) {
    for (std::size_t i = 0; i < std::min(kAhead, asks.size()); ++i) map.Prefetch(key_of(asks[i]));
    for (std::size_t i = 0; i < asks.size(); ++i) {
      map.Prefetch(key_of(asks[std::min(i + kAhead, asks.size() - 1)]));
      take(i);
    }
  };
  if (planned.bucket == nullptr) {
    each([&](std::size_t i) {
      decisions[i] = TakeAny(planned, key_of(asks[i]), asks[i].cost, now);
    });
    return;
  }
  planned.WithBucket([&](auto bucket) {
    const std::uint64_t tick = bucket.TickAt(now);
    std::array<std::uint32_t, kMostPutOff> put_off;
    std::size_t put_off_count = 0;
    const auto catch_up = [&] {
      for (const std::uint32_t i : std::span(put_off).first(put_off_count)) {
        decisions[i] = TakeNearby(bucket, key_of(asks[i]), 1, asks[i].cost, now);
      }
      put_off_count = 0;
    };
    each([&](std::size_t i) {
      const table::Key key = key_of(asks[i]);
      table::AtomicSlot* const slot = map.Glance(key);
      if (slot != nullptr) [[likely]] {
        // Where it is to be: an assignment would make it elsewhere first.
        new (&decisions[i]) Decision(TakeFrom(bucket, tick, key, slot, asks[i].cost, now));
        return;
      }
      map.PrefetchNearby(key);
      put_off[put_off_count++] = static_cast<std::uint32_t>(i);
      if (put_off_count == kMostPutOff) [[unlikely]] {
        catch_up();
      }
    });
    catch_up();
  });
}

void KeyStates::CarryRecord(table::Records::Locked& record, const Planned& current,
                            Instant now) noexcept {
  const std::uint64_t written_by = record.words()[0];
  if (written_by == 0 || written_by == current.kind) return;
  const std::vector<std::uint64_t> before(record.words().begin() + 1, record.words().end());
  const std::span<std::uint64_t> after = record.BeginRewrite();
  std::fill(after.begin(), after.end(), 0);
  if (const Planned* old = Known(static_cast<std::uint16_t>(written_by))) {
    current.plan.Carry(old->plan, before, after.subspan(1), now);
  }
  after[0] = current.kind;
  algorithm::State state(after);
  state.SetBase(1);
  record.EndRewrite(Later(now, current.plan.ForgottenIn(state, now)));
}

bool KeyStates::Holds(KeyHash hash) const noexcept {
  const table::AtomicSlot* slot = table_.FindOfAnyKind(KeyOf(hash));
  if (slot == nullptr) return false;
  const std::uint64_t word = slot->Load().word;
  return records_ ? !RecordWord::Of(word).blank : word != 0;
}

std::optional<KeyStates::Parcel> KeyStates::Copy(KeyHash hash) {
  const table::Key key = KeyOf(hash);
  table::AtomicSlot* slot = table_.FindOfAnyKind(key);
  if (slot == nullptr) return std::nullopt;
  Parcel parcel;
  if (!records_) {
    const Slot held = slot->Load();
    if (!table::SameKey(held.tag, key.tag)) return std::nullopt;  // it was in somebody's way
    parcel = {Known(table::KindOf(held.tag)), {held.word}};
  } else {
    records_->Visit(*slot, [&](const table::Records::Locked& record) {
      if (!table::SameKey(slot->tag(), key.tag)) return;
      const std::span<const std::uint64_t> words = record.words();
      parcel = {Known(static_cast<std::uint16_t>(words[0])), {words.begin() + 1, words.end()}};
    });
  }
  if (parcel.planned == nullptr) return std::nullopt;
  return parcel;
}

void KeyStates::Forget(KeyHash hash) {
  const table::Key key = KeyOf(hash);
  table::AtomicSlot* slot = table_.FindOfAnyKind(key);
  if (slot == nullptr) return;
  if (!records_) {
    Slot held = slot->Load();
    while (table::SameKey(held.tag, key.tag) && !slot->Swap(held, {held.tag, 0})) {
      held = slot->Load();
    }
    return;
  }
  records_->Visit(*slot, [&](table::Records::Locked& record) {
    // Begun and never ended: what is left is blank.
    if (table::SameKey(slot->tag(), key.tag)) record.BeginRewrite();
  });
}

void KeyStates::Deposit(const Planned& planned, KeyHash hash, const Parcel& parcel, Instant now) {
  std::vector<std::uint64_t> carried(planned.plan.words());
  planned.plan.Carry(parcel.planned->plan, parcel.words, carried, now);
  const table::Key key = table_.map().KeyOf(hash.low, hash.high, KindOf(planned));
  if (!records_) {
    table_.Update(key, now, [&](std::uint64_t& word, std::uint16_t /*kind*/) {
      if (word == 0) word = carried[0];
    });
    return;
  }
  table::Records::Locked record = records_->Lock(key, now);
  if (record.words()[0] != 0) return;
  const std::span<std::uint64_t> words = record.BeginRewrite();
  words[0] = planned.kind;
  std::copy(carried.begin(), carried.end(), words.begin() + 1);
  algorithm::State state(words);
  state.SetBase(1);
  record.EndRewrite(Later(now, planned.plan.ForgottenIn(state, now)));
}

Decision KeyStates::TakeAny(const Planned& planned, const table::Key& key, Permits cost,
                            Instant now) noexcept {
  return ChangeKey(planned, key, now, [&](const Plan& plan, algorithm::State& state) {
    return plan.Admit(state, cost, now);
  });
}

Decision KeyStates::TakeSlowly(const table::Key& key, Permits cost, Instant now) noexcept {
  Decision decision;
  table_.Update(key, now, [&](std::uint64_t& word, std::uint16_t kind) {
    algorithm::State state{std::span<const std::uint64_t>(&word, 1)};
    decision = PlanOf(kind).Admit(state, cost, now);
    if (!state.writes().empty()) word = state.writes()[0].value;
  });
  return decision;
}

Nanos KeyStates::ForgottenIn(std::uint16_t kind, std::uint64_t word, Instant now) const {
  if (records_) return RecordWord::ForgottenIn(word, now);
  constexpr Nanos kLongest = Nanos::max() - Nanos(1);  // every word can go if it must
  const Planned* planned = Known(kind);
  if (planned == nullptr) return Nanos(0);
  if (planned->bucket != nullptr) [[likely]] {
    return std::min(ToDuration(planned->bucket->ForgottenIn(word, now)), kLongest);
  }
  algorithm::State state{std::span<const std::uint64_t>(&word, 1)};
  return std::min(planned->plan.ForgottenIn(state, now), kLongest);
}

std::uint16_t KeyStates::CurrentOf(std::uint16_t kind) const {
  if (records_) return kRecordKind;
  // Who asks for a kind has a plan for it; only a plan that was forgotten since has none.
  const Planned* planned = Known(kind);
  return planned != nullptr ? Latest(*planned).kind : kind;
}

std::uint64_t KeyStates::Renew(std::uint16_t from, std::uint64_t word, std::uint16_t to,
                               Instant now) const {
  if (records_) return RecordWord{0, true, Instant{}}.word();  // no such kind: not one of ours
  const Planned* old = Known(from);
  const Planned* current = Known(to);
  if (old == nullptr || current == nullptr) return 0;
  std::uint64_t renewed = 0;
  current->plan.Carry(old->plan, std::span<const std::uint64_t>(&word, 1),
                      std::span<std::uint64_t>(&renewed, 1), now);
  return renewed;
}

std::uint64_t KeyStates::CountKeys(Instant now) noexcept {
  std::uint64_t count = 0;
  table_.ForEach([&](table::AtomicSlot& slot) {
    const Slot held = slot.Load();
    if (ForgottenIn(table::KindOf(held.tag), held.word, now) > Nanos(0)) ++count;
  });
  return count;
}

KeyStates::Fill KeyStates::EstimateFill(Instant now) noexcept {
  constexpr std::size_t kLines = 2048;
  std::uint64_t count = 0;
  const std::size_t seen = table_.ForEachOfSome(kLines, [&](table::AtomicSlot& slot) {
    const Slot held = slot.Load();
    if (ForgottenIn(table::KindOf(held.tag), held.word, now) > Nanos(0)) ++count;
  });
  const std::uint64_t slots = table_.slot_count();
  return {count * slots / seen, slots};
}

}  // namespace weir
