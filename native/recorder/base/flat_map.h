// A small open-addressing hash map for the recording path: no node allocations, growth only on insertion.
#pragma once

#include <cstdint>
#include <vector>

namespace framedex::recorder {

struct WordPair {
  uint64_t first;
  uint64_t second;
  bool operator==(const WordPair& other) const { return first == other.first && second == other.second; }
};

inline uint64_t hash_words(uint64_t seed, uint64_t word) {
  uint64_t mixed = (seed ^ word) * 0x9E3779B97F4A7C15u;
  return mixed ^ mixed >> 29;
}

// Maps a pair of words to a small number. The key {0, 0} is not allowed: it marks an empty slot.
class FlatMap {
 public:
  static constexpr uint32_t kAbsent = 0xFFFFFFFF;

  uint32_t find(WordPair key) const {
    if (slots_.empty()) return kAbsent;
    const Slot& slot = slots_[position(key)];
    return slot.key == key ? slot.value : kAbsent;
  }

  void insert(WordPair key, uint32_t value) {
    if ((size_ + 1) * 2 > slots_.size()) grow();
    slots_[position(key)] = {key, value};
    ++size_;
  }

  void clear() {
    slots_.clear();
    size_ = 0;
  }

 private:
  struct Slot {
    WordPair key{0, 0};
    uint32_t value = 0;
  };

  size_t position(WordPair key) const {
    size_t mask = slots_.size() - 1;
    size_t index = hash_words(hash_words(0, key.first), key.second) & mask;
    while (!(slots_[index].key == key) && !(slots_[index].key == WordPair{0, 0})) index = (index + 1) & mask;
    return index;
  }

  void grow() {
    std::vector<Slot> old(slots_.empty() ? 64 : slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (!(slot.key == WordPair{0, 0})) slots_[position(slot.key)] = slot;
    }
  }

  std::vector<Slot> slots_;
  size_t size_ = 0;
};

}  // namespace framedex::recorder
