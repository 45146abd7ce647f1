// Recognises a stack that was walked before without walking it again.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "recorder/unwinder.h"

namespace framedex::recorder {

// What a walk read, in the order in which it read: where every address of memory comes from an earlier value. A walk
// depends on nothing else, so if all of it still holds, the stack is the same. Compared in order with an early exit, so
// that an address is only read after the values that led to it were found unchanged.
class ReadLog {
 public:
  void clear() {
    words_.clear();
    bytes_.clear();
  }
  void word(uintptr_t address, uintptr_t value) {
    words_.push_back({reinterpret_cast<const uintptr_t*>(address), value});
  }
  void byte(uintptr_t address, uint8_t value) { bytes_.push_back({reinterpret_cast<const uint8_t*>(address), value}); }

  bool still_holds() const {
    for (const Word& word : words_) {
      if (__builtin_expect(*word.address != word.value, 0)) return false;
    }
    for (const Byte& byte : bytes_) {
      if (__builtin_expect(*byte.address != byte.value, 0)) return false;
    }
    return true;
  }

 private:
  struct Word {
    const uintptr_t* address;
    uintptr_t value;
  };
  // Bytes lie in memory that the words have led to.
  struct Byte {
    const uint8_t* address;
    uint8_t value;
  };
  std::vector<Word> words_;
  std::vector<Byte> bytes_;
};

// The reads of a native walk: return addresses, and a saved rbp where an outer frame's rule goes by it. False where the
// walk depends on more than that and must not be replayed. `needs_start_rbp`: whether the first frame's rbp counts.
bool log_native_reads(const NativeFrame* frames, size_t count, ReadLog* log, bool* needs_start_rbp);

// The stacks that a thread has walked last, by where they start.
class ReplayCache {
 public:
  static constexpr uint32_t kUnknown = 0xFFFFFFFF;

  // The id of the stack, kUnknown if it has to be walked.
  uint32_t find(const StartRegisters& start, uintptr_t thread_state) const {
    const Entry& entry = entries_[index_of(start)];
    bool is_same_start = entry.start.pc == start.pc && entry.start.sp == start.sp &&
                         entry.thread_state == thread_state && (!entry.needs_rbp || entry.start.rbp == start.rbp);
    return is_same_start && entry.log.still_holds() ? entry.stack : kUnknown;
  }

  // The log to fill for a stack that starts here; what it replaces is forgotten. Complete with remember().
  ReadLog& begin(const StartRegisters& start) {
    Entry& entry = entries_[index_of(start)];
    entry.start = {};
    entry.log.clear();
    return entry.log;
  }
  void remember(const StartRegisters& start, uintptr_t thread_state, bool needs_rbp, uint32_t stack) {
    Entry& entry = entries_[index_of(start)];
    entry.start = start;
    entry.thread_state = thread_state;
    entry.needs_rbp = needs_rbp;
    entry.stack = stack;
  }
  void clear() {
    for (Entry& entry : entries_) entry.start = {};
  }

 private:
  static constexpr size_t kEntries = 256;

  struct Entry {
    StartRegisters start{};  // pc 0: empty
    uintptr_t thread_state = 0;
    bool needs_rbp = false;
    uint32_t stack = 0;
    ReadLog log;
  };

  static size_t index_of(const StartRegisters& start) {
    return ((start.pc ^ start.sp << 20) * 0x9E3779B97F4A7C15u) >> 56;
  }
  std::array<Entry, kEntries> entries_;
};

}  // namespace framedex::recorder
