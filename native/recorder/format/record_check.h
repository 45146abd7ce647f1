// The checks by which a reader detects changes to a capture. See docs/reference/capture-format.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace framedex::capture {

// Sums words, each times its own odd factor, plus a term for their position. A change of one word always changes the
// sum; several changes cancel out only by chance. The products are independent, so a record of a hundred bytes takes a
// few nanoseconds.
class CheckSum {
 public:
  // `key` and `position` give the location of the words: the same words elsewhere have another sum.
  CheckSum(uint64_t key, uint64_t position, uint64_t first) : sum_(key + position * kPlace + first * kOther) {}

  // Adds `count` words from `bytes`.
  void add(const char* bytes, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      uint64_t word;
      std::memcpy(&word, bytes + i * sizeof(word), sizeof(word));
      add(word);
    }
  }
  void add(uint64_t word) {
    sum_ += word * factor_;
    factor_ += kStep;
  }
  // Returns the part of the sum that a record's header stores.
  uint32_t record_check() const { return static_cast<uint32_t>(finish() >> 32); }
  // Mixes the sum, so that each of its bits affects the upper bits of the result.
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

// Returns the check in a record's header. `start` is the rest of that header, `words` the number of 8-byte words in the
// body.
inline uint32_t record_check(uint64_t key, uint64_t position, uint32_t start, const char* body, size_t words) {
  CheckSum sum(key, position, start);
  sum.add(body, words);
  return sum.record_check();
}

// Returns the check of bytes outside records.
inline uint64_t check_of(const char* bytes, size_t size) {
  CheckSum sum(0, 0, size);
  sum.add(bytes, size / 8);
  char rest[8] = {};
  std::memcpy(rest, bytes + size / 8 * 8, size % 8);
  sum.add(rest, 1);
  return sum.finish();
}

// seal() packs a number of at most 40 bits and its check into one word, so a kill cannot separate them. The word is
// zero only with a chance of 1 in 2^24. unseal() returns the number, and whether the check fits.
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
