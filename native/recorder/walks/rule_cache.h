// A cache of frame rules by return address. Look-up is lock-free; each rule is computed once.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "recorder/walks/frame_rule.h"

namespace framedex::recorder {

// A hash table with open addressing. Writers take a lock, readers do not. A table that is three quarters full is
// replaced by one of twice its size. Old tables are never freed, so their readers stay safe; together they are no
// larger than the newest.
class RuleCache {
 public:
  explicit RuleCache(uintptr_t evaluator) : evaluator_(evaluator) {
    tables_.push_back(std::make_unique<Table>(kFirstSize));
    publish();
  }

  // Returns the rule of a return address. Takes a lock only for a new address.
  FrameRule find(uintptr_t return_address) {
    const Table& table = *current_.load(std::memory_order_acquire);
    size_t index = table.index_of(return_address);
    for (;; index = (index + 1) & table.mask) {
      const Slot& slot = table.slots[index];
      uintptr_t address = slot.address.load(std::memory_order_acquire);
      if (__builtin_expect(address == return_address, 1)) {
        uint64_t rule = slot.rule.load(std::memory_order_acquire);
        // Between the two loads, clear() may have emptied the slot and an insertion refilled it.
        if (__builtin_expect(slot.address.load(std::memory_order_relaxed) == return_address, 1)) {
          return FrameRule::from_bits(rule);
        }
      }
      if (address == 0) return add(return_address);
    }
  }

  // Forgets all rules: other code may have been loaded at the same addresses.
  void clear();

 private:
  static constexpr size_t kFirstSize = 1 << 14;

  struct Slot {
    std::atomic<uintptr_t> address{0};
    std::atomic<uint64_t> rule{0};
  };
  struct Table {
    explicit Table(size_t size) : slots(new Slot[size]), mask(size - 1) {}
    // Cheap on purpose: it is on the path between two frames, and return addresses differ in their low bits.
    size_t index_of(uintptr_t address) const { return address & mask; }
    void insert(uintptr_t address, uint64_t rule);

    std::unique_ptr<Slot[]> slots;
    size_t mask;
    size_t used = 0;
  };

  FrameRule add(uintptr_t return_address);
  FrameRule rule_from_loader(uintptr_t return_address) const;
  void publish() { current_.store(tables_.back().get(), std::memory_order_release); }

  uintptr_t evaluator_;
  std::atomic<Table*> current_{nullptr};
  std::mutex mutex_;
  std::vector<std::unique_ptr<Table>> tables_;
};

}  // namespace framedex::recorder
