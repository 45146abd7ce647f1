// The checks by which a reader of a capture finds what is no longer as it was written. See docs/capture-format.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace framedex::capture {

// A sum of words, each times an odd factor of its own, to which the place of the whole is added: a change of one word
// always changes it, one of several but for a chance, and no product waits for another, so a record of a hundred bytes
// takes few nanoseconds.
class CheckSum {
 public:
  // `key` and `position` tell where the words stand: the same ones elsewhere have another sum.
  CheckSum(uint64_t key, uint64_t position, uint64_t first) : sum_(key + position * kPlace + first * kOther) {}

  // Adds `count` words that begin at `bytes`.
  void add(const char* bytes, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      uint64_t word;
      std::memcpy(&word, bytes + i * sizeof(word), sizeof(word));
      sum_ += word * factor_;
      factor_ += kStep;
    }
  }
  // Every bit of the sum bears on the upper bits of this.
  uint64_t finish() const {
    uint64_t mixed = (sum_ ^ sum_ >> 32) * kPlace;
    mixed = (mixed ^ mixed >> 29) * kOther;
    return mixed ^ mixed >> 32;
  }

 private:
  static constexpr uint64_t kPlace = 0x9E3779B97F4A7C15u;
  static constexpr uint64_t kOther = 0xD6E8FEB86659FD93u;
  static constexpr uint64_t kStep = 0xBF58476D1CE4E5BAu;  // even, so that the factors stay odd

  uint64_t sum_;
  uint64_t factor_ = 0x165667B19E3779F9u;
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
