// Numbers the stacks of a thread. Equal stacks get the same number; they are found by hash and compared in full.
#pragma once

#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "recorder/base/flat_map.h"
#include "recorder/stacks/merge.h"

namespace framedex::recorder {

class StackTable {
 public:
  // Returns the stack's number, and whether it is new. Allocates only for a new one.
  std::pair<uint32_t, bool> intern(const MergedStack& stack, const MergedFrame* frames) {
    size_t count = stack.frame_count + stack.python_count;
    uint64_t hash = hash_of(stack, frames, count);
    for (uint64_t probe = 0;; ++probe) {
      uint32_t id = by_hash_.find({hash, probe});
      if (id == FlatMap::kAbsent) return {first_ + add({hash, probe}, stack, frames, count), true};
      if (equals(entries_[id], stack, frames, count)) return {first_ + id, false};
    }
  }

  // Forgets the stacks. Numbers are not reused.
  void clear() {
    by_hash_.clear();
    first_ += static_cast<uint32_t>(entries_.size());
    entries_.clear();
    arena_.clear();
  }

 private:
  struct Entry {
    size_t begin;  // index in the arena
    MergedStack stack;
  };

  // Sums the words, each times an odd factor from its position, so the products are independent.
  static uint64_t hash_of(const MergedStack& stack, const MergedFrame* frames, size_t count) {
    uint64_t kind = static_cast<uint64_t>(stack.outcome) << 1 | stack.is_truncated;
    uint64_t hash = hash_words(kind, stack.frame_count);
    uint64_t factor = 0x9E3779B97F4A7C15u;
    constexpr uint64_t kStep = 0xC2B2AE3D27D4EB4Eu;  // even, so that the factors stay odd
    for (size_t i = 0; i < count; ++i) {
      hash += frames[i].first * factor + frames[i].second * (factor + kStep);
      factor += 2 * kStep;
    }
    return hash | 1;  // {0, 0} is not a valid key
  }

  uint32_t add(WordPair key, const MergedStack& stack, const MergedFrame* frames, size_t count) {
    auto id = static_cast<uint32_t>(entries_.size());
    entries_.push_back({arena_.size(), stack});
    arena_.insert(arena_.end(), frames, frames + count);
    by_hash_.insert(key, id);
    return id;
  }

  bool equals(const Entry& entry, const MergedStack& stack, const MergedFrame* frames, size_t count) const {
    return entry.stack.python_count == stack.python_count && entry.stack.outcome == stack.outcome &&
           entry.stack.is_truncated == stack.is_truncated && entry.stack.frame_count == stack.frame_count &&
           std::memcmp(arena_.data() + entry.begin, frames, count * sizeof(MergedFrame)) == 0;
  }

  uint32_t first_ = 0;
  FlatMap by_hash_;
  std::vector<Entry> entries_;
  std::vector<MergedFrame> arena_;
};

}  // namespace framedex::recorder
