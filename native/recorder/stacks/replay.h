// Recognises a repeated stack without walking it again.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "recorder/walks/read_log.h"
#include "recorder/walks/start_registers.h"

namespace framedex::recorder {

// All reads of a walk: if they are unchanged, the stack is the same. Packed into few cache lines, because the program's
// own data needs the processor's cache.
class KeptReads {
 public:
  // Keeps the reads of a walk from `sp` on. Returns false if a read is too far from `sp`. Allocates until the memory is
  // large enough.
  bool assign(const ReadLog& python, const Reads<uintptr_t>& native, uintptr_t sp) {
    words_ = static_cast<uint16_t>(python.words.count());
    bytes_ = static_cast<uint16_t>(python.bytes.count());
    native_ = static_cast<uint16_t>(native.count());
    reserve(kPair * (words_ + bytes_) + native_ + (native_ + 1u) / 2);
    uint64_t* next = memory_.get();
    for (const auto& [address, value] : python.words) next = put_pair(next, address, value);
    for (const auto& [address, value] : python.bytes) next = put_pair(next, address, value);
    auto* offset = reinterpret_cast<uint32_t*>(next + native_);
    for (const auto& [address, value] : native) {
      uintptr_t distance = reinterpret_cast<uintptr_t>(address) - base_of(sp);
      if (distance > UINT32_MAX) return false;
      *next++ = value;
      *offset++ = static_cast<uint32_t>(distance);
    }
    return true;
  }

  // Compares the Python reads first: stacks with the same start differ there sooner than in the native part. Stops at
  // the first change, so a stale address is never read.
  bool still_hold(uintptr_t sp) const {
    const uint64_t* next = memory_.get();
    for (const uint64_t* end = next + kPair * words_; next != end; next += kPair) {
      if (__builtin_expect(*reinterpret_cast<const uint64_t*>(next[0]) != next[1], 0)) return false;
    }
    for (const uint64_t* end = next + kPair * bytes_; next != end; next += kPair) {
      if (__builtin_expect(*reinterpret_cast<const uint8_t*>(next[0]) != next[1], 0)) return false;
    }
    // The thread's own stack is always readable: in any order, and several at a time.
    const auto* offsets = reinterpret_cast<const uint32_t*>(next + native_);
    uintptr_t base = base_of(sp);
    uint64_t changed = 0;
#pragma GCC unroll 4
    for (size_t i = 0; i < native_; ++i) changed |= *reinterpret_cast<const uint64_t*>(base + offsets[i]) ^ next[i];
    return changed == 0;
  }

 private:
  static constexpr size_t kPair = 2;
  static constexpr size_t kFirstCapacity = 128;

  // A frame pointer may be saved directly below the start.
  static uintptr_t base_of(uintptr_t sp) { return sp - sizeof(uintptr_t); }
  static uint64_t* put_pair(uint64_t* next, const void* address, uint64_t value) {
    *next++ = reinterpret_cast<uintptr_t>(address);
    *next++ = value;
    return next;
  }
  void reserve(size_t count) {
    if (count <= capacity_) return;
    if (capacity_ == 0) capacity_ = kFirstCapacity;
    while (capacity_ < count) capacity_ *= 2;
    memory_.reset(new uint64_t[capacity_]);
  }

  // Python words and bytes, as pairs of an address and a value; then native values; then their distances from the
  // start, 32 bits each.
  std::unique_ptr<uint64_t[]> memory_;
  uint32_t capacity_ = 0;
  uint16_t words_ = 0;
  uint16_t bytes_ = 0;
  uint16_t native_ = 0;
};

// The latest stacks of a thread, by starting point. Several may share one: a generator alternates between a few
// addresses, and a function is called from several lines.
class ReplayCache {
 public:
  static constexpr uint32_t kUnknown = 0xFFFFFFFF;

  // Returns the stack's id, or kUnknown if the stack must be walked.
  uint32_t find(const StartRegisters& start, uintptr_t thread_state) {
    size_t index = index_of(start);
    for (uint32_t i = 0; i < kWays; ++i) {
      uint32_t way = (recent_[index] + i) % kWays;
      const Entry& entry = sets_[index][way];
      if (!entry.starts_at(start, thread_state) || !entry.reads.still_hold(start.sp)) continue;
      recent_[index] = static_cast<uint8_t>(way);
      return entry.stack;
    }
    return kUnknown;
  }

  // Stores the reads of a walk in place of those of an older one.
  void remember(const StartRegisters& start, uintptr_t thread_state, bool needs_fp, uint32_t stack,
                const ReadLog& python, const Reads<uintptr_t>& native) {
    size_t index = index_of(start);
    recent_[index] = static_cast<uint8_t>((recent_[index] + kWays - 1) % kWays);  // the entry that find() tries last
    Entry& entry = sets_[index][recent_[index]];
    bool is_kept = entry.reads.assign(python, native, start.sp);
    entry.start = is_kept ? start : StartRegisters{};
    entry.thread_state = thread_state;
    entry.needs_fp = needs_fp;
    entry.stack = stack;
  }
  void clear() {
    for (auto& set : sets_) {
      for (Entry& entry : set) entry.start = {};
    }
  }

 private:
  static constexpr size_t kSets = 128;
  static constexpr uint32_t kWays = 4;

  // A cache line.
  struct alignas(64) Entry {
    StartRegisters start{};  // pc 0: empty
    uintptr_t thread_state = 0;
    KeptReads reads;
    uint32_t stack = 0;
    bool needs_fp = false;

    bool starts_at(const StartRegisters& other, uintptr_t state) const {
      return start.pc == other.pc && start.sp == other.sp && thread_state == state &&
             (!needs_fp || start.fp == other.fp);
    }
  };
  static_assert(sizeof(Entry) == 64);

  static size_t index_of(const StartRegisters& start) {
    return ((start.pc ^ start.sp << 20) * 0x9E3779B97F4A7C15u) >> 57;
  }
  std::array<std::array<Entry, kWays>, kSets> sets_;
  std::array<uint8_t, kSets> recent_{};
};

}  // namespace framedex::recorder
