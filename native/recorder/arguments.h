// Writes the decoded arguments of a call into a buffer of fixed size, in the encoding of capture_format.h.
#pragma once

#include <cstring>
#include <string>
#include <string_view>

#include "recorder/base/export.h"
#include "recorder/format/capture_format.h"

namespace framedex::recorder {

// Never allocates. Drops values beyond the capacity and writes a kMore value in their place.
class FRAMEDEX_EXPORT ArgumentWriter {
 public:
  static constexpr size_t kCapacity = 16384;
  static constexpr size_t kMaximumText = 512;
  // Bytes kept of an error message: its beginning and its end. A Python traceback ends with the frame that raised and
  // the exception.
  static constexpr size_t kErrorBeginning = 1024;
  static constexpr size_t kErrorEnd = 3072;
  static constexpr size_t kMaximumElements = 64;
  // Higher than kMaximumElements: object lifetimes are derived from addresses.
  static constexpr size_t kMaximumAddresses = 1536;

  void clear() {
    size_ = 0;
    limit_ = kLimit;
    has_more_ = false;
  }
  size_t size() const { return size_; }
  // Returns word `index` of a record body, which is a head of `head_size` bytes (at most kMostBefore) and then the
  // values. The head's bytes are zeros here. The bytes after the values are undefined.
  uint64_t word_after_head(size_t head_size, size_t index) const {
    uint64_t word;
    std::memcpy(&word, data_ + kMostBefore - head_size + index * sizeof(word), sizeof(word));
    return word;
  }

  void integer(uint16_t field, int64_t value) {
    if (value >= 0 && value <= UINT32_MAX) {
      counted(field, capture::ValueKind::kSmall, static_cast<uint32_t>(value));
    } else {
      scalar(field, capture::ValueKind::kInteger, &value);
    }
  }
  void boolean(uint16_t field, bool value) { counted(field, capture::ValueKind::kTruth, value); }
  void real(uint16_t field, double value) { scalar(field, capture::ValueKind::kReal, &value); }
  void address(uint16_t field, const void* value) {
    auto word = reinterpret_cast<uintptr_t>(value);
    bool is_null = word == 0;
    capture::ValueKind kind = is_null ? capture::ValueKind::kNoAddress : capture::ValueKind::kAddress;
    if (word >> (8 * capture::kAddressSize) == 0 && put(field, kind, word, is_null ? 0 : capture::kAddressSize)) return;
    any_address(field, word);
  }
  void text(uint16_t field, std::string_view value) {
    if (char* end = begin(field, capture::ValueKind::kText, kMostCount + value.size())) {
      put_count(end, static_cast<uint32_t>(value.size()));
      std::memcpy(end, value.data(), value.size());
      finish(end + value.size());
    }
  }
  // Writes the text if it is printable UTF-8 of at most kMaximumText bytes, else only its size in bytes.
  void text_or_size(uint16_t field, const char* bytes, size_t size);
  // Writes the message. A long one is cut in the middle, where a line gives the number of bytes left out.
  void error_message(std::string_view message);
  void addresses(uint16_t field, const void* const* values, size_t count);
  // Writes `row_count` lists of `row_length` addresses each. Rows that do not fit are left out whole.
  void address_lists(uint16_t field, const void* const* const* rows, size_t row_count, size_t row_length);

  template <typename Integer>
  void integers(uint16_t field, const Integer* values, size_t count) {
    size_t kept = values == nullptr ? 0 : (count < kMaximumElements ? count : kMaximumElements);
    uint64_t bits = 0;  // used by any value, besides its sign
    for (size_t i = 0; i < kept; ++i) {
      auto wide = static_cast<int64_t>(values[i]);
      bits |= static_cast<uint64_t>(wide ^ wide >> 63);
    }
    size_t size = bits >> 7 == 0 ? 1 : bits >> 15 == 0 ? 2 : bits >> 31 == 0 ? 4 : 8;
    char* end = begin_list(field, capture::ValueKind::kIntegers, kept, size);
    if (end == nullptr) return;
    for (size_t i = 0; i < kept; ++i) put_element(end, static_cast<uint64_t>(static_cast<int64_t>(values[i])), size);
    finish(end);
  }

 private:
  static constexpr size_t kMostHead = 3;
  static constexpr size_t kMostCount = 5;

  // Writes a head and up to seven bytes of payload as one word. Returns false if that is not possible.
  bool put(uint16_t field, capture::ValueKind kind, uint64_t payload, size_t size) {
    if (__builtin_expect(field >= capture::kFieldFollows || size_ + sizeof(payload) > limit_, 0)) return false;
    uint64_t word = capture::value_head(kind, field) | payload << 8;
    std::memcpy(at_end(), &word, sizeof(word));
    size_ += 1 + size;
    return true;
  }
  // Writes a value's head and returns the space after it, for at most `size` bytes; nullptr if it does not fit. The
  // caller passes the end of its bytes to finish().
  char* begin(uint16_t field, capture::ValueKind kind, size_t size) {
    if (__builtin_expect(size_ + kMostHead + size > limit_, 0)) return overflow();
    char* end = at_end();
    *end++ = static_cast<char>(capture::value_head(kind, field));
    if (__builtin_expect(field >= capture::kFieldFollows, 0)) {
      std::memcpy(end, &field, sizeof(field));
      end += sizeof(field);
    }
    return end;
  }
  void finish(const char* end) { size_ = static_cast<size_t>(end - data_) - kMostBefore; }
  template <typename Word>
  void scalar(uint16_t field, capture::ValueKind kind, const Word* value) {
    static_assert(sizeof(Word) == kOverhang);
    if (char* end = begin(field, kind, sizeof(Word))) {
      std::memcpy(end, value, sizeof(Word));
      finish(end + sizeof(Word));
    }
  }
  void counted(uint16_t field, capture::ValueKind kind, uint32_t count) {
    if (count >= 0x80 || !put(field, kind, count, 1)) any_count(field, kind, count);
  }
  void any_count(uint16_t field, capture::ValueKind kind, uint32_t count);
  void any_address(uint16_t field, uintptr_t word);
  // Writes a list's count and element size, and returns the space for its elements. `size`: bytes of an element.
  char* begin_list(uint16_t field, capture::ValueKind kind, size_t count, size_t size) {
    char* end = begin(field, kind, kMostCount + 1 + count * size);
    if (end == nullptr) return nullptr;
    put_count(end, static_cast<uint32_t>(count));
    *end++ = static_cast<char>(size);
    return end;
  }
  static void put_count(char*& end, uint32_t count) {
    for (; count >= 0x80; count >>= 7) *end++ = static_cast<char>(count | 0x80);
    *end++ = static_cast<char>(count);
  }
  static void put_element(char*& end, uint64_t value, size_t size) {
    std::memcpy(end, &value, sizeof(value));
    end += size;
  }
  static size_t address_size(const void* const* values, size_t count);
  static void put_addresses(char*& end, const void* const* values, size_t count, size_t size);
  char* overflow();
  void note_more();

  char* at_end() { return data_ + kMostBefore + size_; }

  // Reserves a head's worth of space for kMore.
  static constexpr size_t kLimit = kCapacity - kMostHead;
  static constexpr size_t kMostBefore = sizeof(capture::CallRecord);
  // put() always writes a whole word, even if fewer bytes count.
  static constexpr size_t kOverhang = 8;

  size_t size_ = 0;
  size_t limit_ = kLimit;  // 0 once a value did not fit
  bool has_more_ = false;
  alignas(8) char data_[kMostBefore + kCapacity + kOverhang] = {};
};

// Returns the text cut to kMaximumText bytes, between characters. A cut text ends with "...".
FRAMEDEX_EXPORT std::string shorten(std::string text);

}  // namespace framedex::recorder
