#include "call_stream/stack_tree.h"

#include <stdexcept>

namespace framedex::call_stream {
namespace {

constexpr size_t kFirstSlots = 1024;

uint64_t hash_of(uint32_t parent, uint32_t frame) {
  uint64_t key = (uint64_t{parent} << 32 | frame) * 0x9E3779B97F4A7C15u;
  return key ^ key >> 32;
}

}  // namespace

void StackTree::add(uint32_t parent, uint32_t frame) {
  if (size() == UINT32_MAX) throw std::length_error("An index has at most 2^32 nodes.");
  parents_.push_back(parent);
  frames_.push_back(frame);
  if (frame != 0) insert(static_cast<uint32_t>(size() - 1));
}

uint32_t StackTree::intern(uint32_t parent, uint32_t frame) {
  if (!slots_.empty()) {
    if (uint32_t node = slots_[find_slot(parent, frame)]; node != 0) return node;
  }
  add(parent, frame);
  return static_cast<uint32_t>(size() - 1);
}

size_t StackTree::find_slot(uint32_t parent, uint32_t frame) const {
  size_t slot = hash_of(parent, frame) & (slots_.size() - 1);
  while (slots_[slot] != 0 && (parents_[slots_[slot]] != parent || frames_[slots_[slot]] != frame)) {
    slot = (slot + 1) & (slots_.size() - 1);
  }
  return slot;
}

void StackTree::insert(uint32_t node) {
  if ((used_ + 1) * 3 > slots_.size() * 2) {
    std::vector<uint32_t> former(slots_.empty() ? kFirstSlots : slots_.size() * 2);
    former.swap(slots_);
    for (uint32_t each : former) {
      if (each != 0) slots_[find_slot(parents_[each], frames_[each])] = each;
    }
  }
  uint32_t& slot = slots_[find_slot(parents_[node], frames_[node])];
  used_ += slot == 0;
  slot = node;
}

}  // namespace framedex::call_stream
