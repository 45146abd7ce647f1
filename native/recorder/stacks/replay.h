// Recognises a repeated stack without walking it again.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "recorder/walks/read_log.h"
#include "recorder/walks/start_registers.h"

namespace framedex::recorder {

// The latest stacks of a thread, by starting point. Several may share one: a generator alternates between a few
// addresses, and a function is called from several lines.
class ReplayCache {
 public:
  static constexpr uint32_t kUnknown = 0xFFFFFFFF;

  // Returns the stack's id, or kUnknown if the stack must be walked.
  uint32_t find(const StartRegisters& start, uintptr_t thread_state) {
    Set& set = sets_[index_of(start)];
    for (uint32_t i = 0; i < kWays; ++i) {
      uint32_t way = (set.recent + i) % kWays;
      const Entry& entry = set.entries[way];
      if (!entry.starts_at(start, thread_state) || !entry.log->is_unchanged()) continue;
      set.recent = way;
      return entry.stack;
    }
    return kUnknown;
  }

  // Stores the log of a walk. Evicts an older entry and hands its log out for the next walk.
  void remember(const StartRegisters& start, uintptr_t thread_state, bool needs_fp, uint32_t stack,
                std::unique_ptr<ReadLog>* log) {
    Set& set = sets_[index_of(start)];
    set.recent = (set.recent + kWays - 1) % kWays;  // the entry that find() tries last
    Entry& entry = set.entries[set.recent];
    entry.start = start;
    entry.thread_state = thread_state;
    entry.needs_fp = needs_fp;
    entry.stack = stack;
    entry.log.swap(*log);
    if (*log == nullptr) log->reset(new ReadLog);
  }
  void clear() {
    for (Set& set : sets_) {
      for (Entry& entry : set.entries) entry.start = {};
    }
  }

 private:
  static constexpr size_t kSets = 128;
  static constexpr uint32_t kWays = 4;

  struct Entry {
    StartRegisters start{};  // pc 0: empty
    uintptr_t thread_state = 0;
    bool needs_fp = false;
    uint32_t stack = 0;
    std::unique_ptr<ReadLog> log;

    bool starts_at(const StartRegisters& other, uintptr_t state) const {
      return start.pc == other.pc && start.sp == other.sp && thread_state == state &&
             (!needs_fp || start.fp == other.fp);
    }
  };
  struct Set {
    std::array<Entry, kWays> entries;
    uint32_t recent = 0;
  };

  static size_t index_of(const StartRegisters& start) {
    return ((start.pc ^ start.sp << 20) * 0x9E3779B97F4A7C15u) >> 57;
  }
  std::array<Set, kSets> sets_;
};

}  // namespace framedex::recorder
