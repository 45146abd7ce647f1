// The checks by which a reader of a capture finds what is no longer as it was written. See docs/capture-format.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace framedex::capture {

// A sum over pairs of words, each pair multiplied to 128 bits and folded, after being mixed with the place where it
// stands: no pair waits for another, so a record of a hundred bytes takes few nanoseconds. The mixing of two 64-bit
// words by one wide multiplication is wyhash's.
class CheckSum {
 public:
  // `key` and `position` are mixed into every word: the same bytes elsewhere have another sum.
  CheckSum(uint64_t key, uint64_t position, uint64_t first)
      : place_(key + position * kPlace), sum_(fold(first ^ place_, place_ ^ kOther)) {}

  // Adds `count` words that begin at `bytes`.
  void add(const char* bytes, size_t count) {
    for (; count >= 2; count -= 2, bytes += 16) add_pair(word(bytes), word(bytes + 8));
    if (count != 0) add_pair(word(bytes), 0);
  }
  uint64_t finish() const {
    uint64_t mixed = (sum_ ^ sum_ >> 32) * kLast;
    return mixed ^ mixed >> 32;
  }

 private:
  static constexpr uint64_t kPlace = 0x9E3779B97F4A7C15u;
  static constexpr uint64_t kOther = 0xD6E8FEB86659FD93u;
  static constexpr uint64_t kLast = 0x165667B19E3779F9u;

  static uint64_t fold(uint64_t a, uint64_t b) {
    auto product = static_cast<unsigned __int128>(a) * b;
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  }
  static uint64_t word(const char* bytes) {
    uint64_t value;
    std::memcpy(&value, bytes, sizeof(value));
    return value;
  }
  void add_pair(uint64_t a, uint64_t b) {
    place_ += kPlace;
    sum_ += fold(a ^ place_, b ^ place_ ^ kOther);
  }

  uint64_t place_;
  uint64_t sum_;
};

// The check in a record's header: `start` is the rest of that header, `words` the 8-byte words of the body.
inline uint32_t record_check(uint64_t key, uint64_t position, uint32_t start, const char* body, size_t words) {
  CheckSum sum(key, position, start);
  sum.add(body, words);
  return static_cast<uint32_t>(sum.finish() >> 32);
}

// Of bytes of any number that stand alone.
inline uint64_t check_of(const char* bytes, size_t size) {
  CheckSum sum(0, 0, size);
  sum.add(bytes, size / 8);
  char rest[8] = {};
  std::memcpy(rest, bytes + size / 8 * 8, size % 8);
  sum.add(rest, 1);
  return sum.finish();
}

// A number of at most 40 bits with a check of it in the same word, so that a kill cannot part them. Never zero but by
// a chance of 1 in 2^24.
constexpr unsigned kSealedBits = 40;
inline uint64_t seal(uint64_t key, size_t field, uint64_t value) {
  uint64_t kept = value & ((uint64_t{1} << kSealedBits) - 1);
  return kept | CheckSum(key, field, kept).finish() >> kSealedBits << kSealedBits;
}
inline bool unseal(uint64_t key, size_t field, uint64_t sealed, uint64_t* value) {
  *value = sealed & ((uint64_t{1} << kSealedBits) - 1);
  return seal(key, field, *value) == sealed;
}

}  // namespace framedex::capture
