// How the records of calls and returns begin: in few bytes, counted from their segment's base, or in full where a
// number does not fit those. See docs/capture-format.md.
#pragma once

#include <cstdint>
#include <cstring>

#include "recorder/format/capture_format.h"

namespace framedex::capture {

// A short head of a call: 32 bits of time, then these; of a return: 32 bits of time and 16 of sequence. A segment has
// room for no more than 2^14 calls, and a process for no more than 2^12 functions.
inline constexpr unsigned kSequenceBits = 14;
inline constexpr unsigned kFunctionBits = 12;
inline constexpr unsigned kStackBits = 14;

template <typename Head>
inline constexpr size_t kShortSize = 0;
template <>
inline constexpr size_t kShortSize<CallRecord> = 9;
template <>
inline constexpr size_t kShortSize<ReturnRecord> = 6;

inline bool is_short(const CallRecord& head, const BaseRecord& base) {
  return ((head.time - base.time) >> 32 | (head.sequence - base.sequence) >> kSequenceBits |
          head.function >> kFunctionBits | head.stack >> kStackBits) == 0;
}

inline bool is_short(const ReturnRecord& head, const BaseRecord& base) {
  return ((head.time - base.time) >> 32 | (head.sequence - base.sequence) >> 16) == 0 && head.error == 0;
}

inline void write_short(const CallRecord& head, const BaseRecord& base, char* target) {
  uint64_t rest = (head.sequence - base.sequence) | uint64_t{head.function} << kSequenceBits |
                  uint64_t{head.stack} << (kSequenceBits + kFunctionBits);
  uint64_t word = (head.time - base.time) | rest << 32;
  std::memcpy(target, &word, sizeof(word));
  target[sizeof(word)] = static_cast<char>(rest >> 32);
}

inline void write_short(const ReturnRecord& head, const BaseRecord& base, char* target) {
  auto time = static_cast<uint32_t>(head.time - base.time);
  auto sequence = static_cast<uint16_t>(head.sequence - base.sequence);
  std::memcpy(target, &time, sizeof(time));
  std::memcpy(target + sizeof(time), &sequence, sizeof(sequence));
}

// Read kShortSize bytes.
inline void read_short(const char* source, const BaseRecord& base, CallRecord* head) {
  uint64_t word;
  std::memcpy(&word, source, sizeof(word));
  uint64_t rest = word >> 32 | uint64_t{static_cast<uint8_t>(source[sizeof(word)])} << 32;
  auto bits = [&](unsigned from, unsigned count) { return rest >> from & ((uint64_t{1} << count) - 1); };
  head->time = base.time + (word & UINT32_MAX);
  head->sequence = base.sequence + bits(0, kSequenceBits);
  head->function = static_cast<uint32_t>(bits(kSequenceBits, kFunctionBits));
  head->stack = static_cast<uint32_t>(bits(kSequenceBits + kFunctionBits, kStackBits));
}

inline void read_short(const char* source, const BaseRecord& base, ReturnRecord* head) {
  uint32_t time;
  uint16_t sequence;
  std::memcpy(&time, source, sizeof(time));
  std::memcpy(&sequence, source + sizeof(time), sizeof(sequence));
  *head = {base.sequence + sequence, base.time + time, 0, 0};
}

}  // namespace framedex::capture
