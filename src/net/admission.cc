#include "net/admission.h"

#include "base/check.h"

namespace weir::net {
namespace {

rule::Address Household(const rule::Address& peer) { return peer.is_v4() ? peer : peer.Masked(64); }

}  // namespace

bool Admission::Enter() {
  if (connections_.fetch_add(1, std::memory_order_relaxed) < limits_.connections) return true;
  Leave();
  return false;
}

void Admission::Leave() { connections_.fetch_sub(1, std::memory_order_relaxed); }

bool Admission::EnterFrom(const rule::Address& peer) {
  if (limits_.connections_per_peer == 0) return false;
  const std::lock_guard lock(mutex_);
  std::size_t& count = peers_[Household(peer)];
  if (count >= limits_.connections_per_peer) return false;
  ++count;
  return true;
}

void Admission::LeaveFrom(const rule::Address& peer) {
  const std::lock_guard lock(mutex_);
  const auto place = peers_.find(Household(peer));
  WEIR_CHECK(place != peers_.end());
  if (--place->second == 0) peers_.erase(place);
}

Seat::~Seat() {
  if (taken_) admission_->Leave();
  if (peer_) admission_->LeaveFrom(*peer_);
}

bool Seat::Take() {
  WEIR_CHECK(!taken_);
  taken_ = admission_->Enter();
  return taken_;
}

bool Seat::TakeFor(const rule::Address& peer) {
  WEIR_CHECK(!peer_);
  if (!admission_->EnterFrom(peer)) return false;
  peer_ = peer;
  return true;
}

}  // namespace weir::net
