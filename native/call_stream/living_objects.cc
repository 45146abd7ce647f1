#include "call_stream/living_objects.h"

#include <algorithm>
#include <utility>

namespace framedex::call_stream {

LifeId LiveObjects::find(ObjectType type, uint64_t address) const { return entries_[entry_index(type, address)].life; }

// Returns the index of the entry, or of the free one where it would be.
size_t LiveObjects::entry_index(ObjectType type, uint64_t address) const {
  size_t mask = entries_.size() - 1;
  uint64_t mixed = (address ^ uint64_t{type} << 56) * 0x9E3779B97F4A7C15;
  for (size_t index = (mixed ^ mixed >> 32) & mask;; index = (index + 1) & mask) {
    const Entry& entry = entries_[index];
    if (entry.address == 0 || (entry.address == address && entry.type == type)) return index;
  }
}

LifeId LiveObjects::begin(ObjectLifetime life) {
  life.object = count_++;
  Entry& entry = entries_[entry_index(life.type, life.address)];
  if (entry.address == 0) {
    entry = {life.address, life.type, kNoLife};
    ++used_;
  } else if ((*this)[entry.life].holds != 0) {
    (*this)[entry.life].is_replaced = true;
    entry.life = kNoLife;
  } else {
    drop(entry.life);
  }
  LifeId id = entry.life == kNoLife ? new_id() : entry.life;
  entry.life = id;
  life.is_listed = (*this)[id].is_listed;
  (*this)[id] = life;
  mark_changed(id);
  if (used_ * 2 > entries_.size()) grow();
  return id;
}

void LiveObjects::mark_changed(LifeId id) {
  ObjectLifetime& life = (*this)[id];
  life.is_changed = true;
  if (life.is_listed) return;
  life.is_listed = true;
  listed_.push_back(id);
}

void LiveObjects::release(LifeId id) {
  ObjectLifetime& life = (*this)[id];
  if (--life.holds != 0 || !life.is_replaced) return;
  drop(id);
  free_.push_back(id);
}

std::vector<ObjectLifetime> LiveObjects::take_changed() {
  std::vector<ObjectLifetime> taken = std::move(dropped_);
  dropped_.clear();
  for (LifeId id : listed_) {
    ObjectLifetime& life = (*this)[id];
    if (life.is_changed) taken.push_back(life);
    life.is_changed = life.is_listed = false;
  }
  listed_.clear();
  std::sort(taken.begin(), taken.end(),
            [](const ObjectLifetime& a, const ObjectLifetime& b) { return a.object < b.object; });
  return taken;
}

void LiveObjects::grow() {
  std::vector<Entry> smaller(entries_.size() * 2);
  smaller.swap(entries_);
  for (const Entry& entry : smaller) {
    if (entry.address != 0) entries_[entry_index(entry.type, entry.address)] = entry;
  }
}

LifeId LiveObjects::new_id() {
  if (free_.empty()) {
    if (ids_ % kChunk == 0) chunks_.push_back(std::make_unique<ObjectLifetime[]>(kChunk));
    return ids_++;
  }
  LifeId id = free_.back();
  free_.pop_back();
  return id;
}

// Keeps the row of a replaced object until it is taken.
void LiveObjects::drop(LifeId id) {
  ObjectLifetime& life = (*this)[id];
  if (life.is_changed) dropped_.push_back(life);
  life.is_changed = false;
}

}  // namespace framedex::call_stream
