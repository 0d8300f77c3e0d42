// A table of the ledger's, and how it reads the states in it. For the ledger's own files only.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "algorithm/cell.h"
#include "limiter/key_states.h"
#include "limiter/ledger.h"

namespace weir {

// One table, and all plans that its keys may be under.
class Ledger::Shelf final : public KeyStates {
 public:
  // Of keys whose limit comes with each request; all other kinds are below.
  static constexpr std::uint16_t kCellKind = 0xFFFF;
  static constexpr std::uint32_t kMostKinds = kCellKind - 1;

  Shelf(table::Memory memory, const Directory& directory)
      : KeyStates(std::move(memory)), directory_(directory) {}

  [[nodiscard]] table::Memory& memory() { return table_.memory(); }
  [[nodiscard]] table::Table::Map map() const noexcept { return table_.map(); }

  // Runs `step(word)` on the word of a key whose limit comes with each request.
  template <typename Step>
  void ChangeCell(KeyHash hash, Instant now, const Step& step) noexcept {
    const table::Table::Map map = table_.map();
    const table::Key key = map.KeyOf(hash.low, hash.high, kCellKind);
    if (table::AtomicSlot* slot = map.Look(key)) {
      if (table::Table::TryUpdate(*slot, key.tag, step)) return;
    }
    table_.Update(key, now, [&](std::uint64_t& word, std::uint16_t /*kind*/) { step(word); });
  }

  // Takes `cost` from the word of a key, if it is there, under a plan of any kind.
  static Decision AdmitWord(const Planned& planned, Permits cost, Instant now,
                            std::uint64_t& word) noexcept {
    algorithm::State state{std::span<const std::uint64_t>(&word, 1)};
    const Decision decision = planned.plan.Admit(state, cost, now);
    if (!state.writes().empty()) word = state.writes()[0].value;
    return decision;
  }

  Nanos ForgottenIn(std::uint16_t kind, std::uint64_t word, Instant now) const override {
    if (kind == kCellKind && !records_) return algorithm::Cell::ForgottenIn(word, now);
    return KeyStates::ForgottenIn(kind, word, now);
  }

  // Marks the kinds that a key is remembered under. What is forgotten is emptied on the way, and so
  // is what no plan can read: its kind may be given to another limit.
  void NoteKinds(std::vector<bool>& in_use, Instant now) {
    table_.ForEach([&](table::AtomicSlot& slot) {
      if (records_) {
        records_->Visit(slot, [&](table::Records::Locked& record) {
          const auto kind = static_cast<std::uint16_t>(record.words()[0]);
          if (Known(kind) == nullptr) {
            record.BeginRewrite();  // and never ended: blank
          } else {
            in_use[kind] = true;
          }
        });
        return;
      }
      table::Slot held = slot.Load();
      while (held.word != 0 && ForgottenIn(table::KindOf(held.tag), held.word, now) == Nanos(0) &&
             !slot.Swap(held, {held.tag, 0})) {
        held = slot.Load();
      }
      if (slot.Load().word != 0) in_use[table::KindOf(slot.tag())] = true;
    });
  }

  // A change of rules keeps what was used. But what was used of an hour is no debt of a second:
  // limits of a rule may have changed places, and nobody is to be locked out for that.
  std::uint64_t Renew(std::uint16_t from, std::uint64_t word, std::uint16_t to,
                      Instant now) const override {
    std::uint64_t renewed = KeyStates::Renew(from, word, to, now);
    const Planned* old = Known(from);
    const Planned* planned = Known(to);
    if (records_ || old == nullptr || planned == nullptr) return renewed;
    constexpr int kMuchShorter = 4;
    if (planned->plan.memory() < old->plan.memory() / kMuchShorter) {
      planned->plan.ForgiveDebt({&renewed, 1}, now);
    }
    return renewed;
  }

 private:
  const Planned* Known(std::uint16_t kind) const noexcept override {
    return directory_[kind].load(std::memory_order_acquire);
  }
  const Planned& Latest(const Planned& planned) const noexcept override { return planned; }

  const Directory& directory_;
};

template <typename Step>
auto Ledger::Change(const Ask& ask, Instant now, const Step& step) noexcept {
  return ShelfOf(ask, now).Change(ask.limit->planned_, ask.key, now, step);
}

}  // namespace weir
