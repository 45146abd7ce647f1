#include "call_stream/pending_effects.h"

#include <algorithm>

namespace framedex::call_stream {

bool Effect::has_result(ObjectType type, uint64_t address) const {
  return !is_error && std::any_of(results.begin(), results.end(), [&](const Result& result) {
    return result.address == address && result.type == type;
  });
}

size_t PendingEffects::free_slot() {
  if (free_.empty()) {
    free_.push_back(effects_.size());
    effects_.emplace_back();
  }
  return free_.back();
}

void PendingEffects::add() {
  size_t slot = free_slot();
  free_.pop_back();
  queue_.push_back({effects_[slot].time, effects_[slot].call, slot});
  std::push_heap(queue_.begin(), queue_.end(), is_later);
}

const Effect& PendingEffects::take_first() {
  std::pop_heap(queue_.begin(), queue_.end(), is_later);
  size_t slot = queue_.back().slot;
  queue_.pop_back();
  free_.push_back(slot);
  return effects_[slot];
}

std::vector<Effect> PendingEffects::take_with_result(ObjectType type, uint64_t address, int64_t time) {
  auto is_match = [&](const QueuedEffect& queued) {
    return queued.time <= time && effects_[queued.slot].has_result(type, address);
  };
  std::vector<Effect> taken;
  if (std::none_of(queue_.begin(), queue_.end(), is_match)) return taken;
  std::sort(queue_.begin(), queue_.end(), [](const QueuedEffect& a, const QueuedEffect& b) { return is_later(b, a); });
  auto matches =
      std::stable_partition(queue_.begin(), queue_.end(), [&](const QueuedEffect& q) { return !is_match(q); });
  for (auto queued = matches; queued != queue_.end(); ++queued) {
    taken.push_back(effects_[queued->slot]);
    free_.push_back(queued->slot);
  }
  queue_.erase(matches, queue_.end());
  std::make_heap(queue_.begin(), queue_.end(), is_later);
  return taken;
}

}  // namespace framedex::call_stream
