// The heads of call and return records. A short head counts from its segment's base record. A long head holds numbers
// that do not fit a short one. See docs/reference/capture-format.md.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

#include "recorder/format/capture_format.h"

namespace framedex::capture {

// Field widths of a short head. A segment holds fewer than 2^14 calls. The time covers minutes, so a thread with a few
// dozen calls a second gets short heads throughout a segment.
inline constexpr unsigned kSequenceBits = 14;
inline constexpr unsigned kFunctionBits = 10;
inline constexpr unsigned kStackBits = 13;
inline constexpr unsigned kCallTimeBits = 39;
inline constexpr unsigned kReturnTimeBits = 40;
inline constexpr unsigned kReturnSequenceBits = 16;

template <typename Head>
inline constexpr size_t kShortSize = 0;
template <>
inline constexpr size_t kShortSize<CallRecord> = 9;
template <>
inline constexpr size_t kShortSize<ReturnRecord> = 7;

inline bool is_short(const CallRecord& head, const BaseRecord& base) {
  return ((head.time - base.time) >> kCallTimeBits | (head.sequence - base.sequence) >> kSequenceBits |
          head.function >> kFunctionBits | head.stack >> kStackBits) == 0;
}

inline bool is_short(const ReturnRecord& head, const BaseRecord& base) {
  return ((head.time - base.time) >> kReturnTimeBits | (head.sequence - base.sequence) >> kReturnSequenceBits) == 0 &&
         head.error == 0;
}

// The bytes of a head, lowest first; the rest of `words` is zeros.
struct PackedHead {
  uint8_t detail;
  size_t size;
  std::array<uint64_t, 3> words;
};

// Packs a call's short head, from the lowest bit: 32 bits of the time, sequence, function, stack, three bits of the
// time. The upper four bits of the time are in the record's detail.
inline PackedHead short_head(const CallRecord& head, const BaseRecord& base) {
  uint64_t time = head.time - base.time;
  uint64_t rest = (head.sequence - base.sequence) | uint64_t{head.function} << kSequenceBits |
                  uint64_t{head.stack} << (kSequenceBits + kFunctionBits) | (time >> 32 & 7) << 37;
  auto detail = static_cast<uint8_t>(time >> 35 << kCallTimeShift);
  return {detail, kShortSize<CallRecord>, {(time & UINT32_MAX) | rest << 32, rest >> 32, 0}};
}

// Packs a return's short head, from the lowest bit: time, sequence.
inline PackedHead short_head(const ReturnRecord& head, const BaseRecord& base) {
  uint64_t word = (head.time - base.time) | (head.sequence - base.sequence) << kReturnTimeBits;
  return {0, kShortSize<ReturnRecord>, {word, 0, 0}};
}

template <typename Head>
PackedHead long_head(const Head& head) {
  PackedHead result{kLongHead, sizeof(head), {}};
  static_assert(sizeof(head) == sizeof(result.words));
  std::memcpy(result.words.data(), &head, sizeof(head));
  return result;
}

// Decodes a short head from kShortSize bytes.
inline void read_short(const char* source, uint8_t detail, const BaseRecord& base, CallRecord* head) {
  uint64_t word;
  std::memcpy(&word, source, sizeof(word));
  uint64_t rest = word >> 32 | uint64_t{static_cast<uint8_t>(source[sizeof(word)])} << 32;
  auto bits = [&](unsigned from, unsigned count) { return rest >> from & ((uint64_t{1} << count) - 1); };
  uint64_t time = (word & UINT32_MAX) | bits(37, 3) << 32 | uint64_t{detail} >> kCallTimeShift << 35;
  head->time = base.time + time;
  head->sequence = base.sequence + bits(0, kSequenceBits);
  head->function = static_cast<uint32_t>(bits(kSequenceBits, kFunctionBits));
  head->stack = static_cast<uint32_t>(bits(kSequenceBits + kFunctionBits, kStackBits));
}

inline void read_short(const char* source, uint8_t, const BaseRecord& base, ReturnRecord* head) {
  uint64_t word = 0;
  std::memcpy(&word, source, kShortSize<ReturnRecord>);
  uint64_t time = word & ((uint64_t{1} << kReturnTimeBits) - 1);
  *head = {base.sequence + (word >> kReturnTimeBits), base.time + time, 0, 0};
}

}  // namespace framedex::capture
