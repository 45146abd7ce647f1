// Writes the decoded arguments of a call into a buffer of fixed size, in the encoding of capture_format.h.
#pragma once

#include <cstring>
#include <string_view>

#include "recorder/base/export.h"
#include "recorder/format/capture_format.h"

namespace framedex::recorder {

// Never allocates. Values beyond the capacity are left out, and a kMore value says so.
class FRAMEDEX_EXPORT ArgumentWriter {
 public:
  static constexpr size_t kCapacity = 16384;
  static constexpr size_t kMaximumText = 512;
  static constexpr size_t kMaximumElements = 64;
  // More of these: what becomes of an object is told from its address.
  static constexpr size_t kMaximumAddresses = 1536;

  void clear() {
    size_ = 0;
    full_ = false;
    has_more_ = false;
  }
  const char* data() const { return data_; }
  size_t size() const { return size_; }

  void integer(uint16_t field, int64_t value) {
    if (value >= 0 && value <= UINT32_MAX) {
      append(field, capture::ValueKind::kSmall, static_cast<uint32_t>(value), 0);
    } else {
      scalar(field, capture::ValueKind::kInteger, &value);
    }
  }
  void boolean(uint16_t field, bool value) { append(field, capture::ValueKind::kTruth, value, 0); }
  void real(uint16_t field, double value) { scalar(field, capture::ValueKind::kReal, &value); }
  void address(uint16_t field, const void* value) { scalar(field, capture::ValueKind::kAddress, &value); }
  void text(uint16_t field, std::string_view value) {
    if (char* payload = append(field, capture::ValueKind::kText, static_cast<uint32_t>(value.size()), value.size())) {
      std::memcpy(payload, value.data(), value.size());
    }
  }
  // The text if it is printable UTF-8 of modest length, else only its size in bytes.
  void text_or_size(uint16_t field, const char* bytes, size_t size);
  void addresses(uint16_t field, const void* const* values, size_t count);
  // `row_count` lists of `row_length` addresses each; rows that do not fit are left out whole.
  void address_lists(uint16_t field, const void* const* const* rows, size_t row_count, size_t row_length);

  template <typename Integer>
  void integers(uint16_t field, const Integer* values, size_t count) {
    size_t kept = values == nullptr ? 0 : (count < kMaximumElements ? count : kMaximumElements);
    char* payload = append(field, capture::ValueKind::kIntegers, static_cast<uint32_t>(kept), kept * sizeof(int64_t));
    if (payload == nullptr) return;
    for (size_t i = 0; i < kept; ++i) {
      auto wide = static_cast<int64_t>(values[i]);
      std::memcpy(payload + i * sizeof(wide), &wide, sizeof(wide));
    }
  }

 private:
  template <typename Word>
  void scalar(uint16_t field, capture::ValueKind kind, const Word* value) {
    static_assert(sizeof(Word) == 8);
    if (char* payload = append(field, kind, 1, sizeof(Word))) std::memcpy(payload, value, sizeof(Word));
  }
  // Space for a value's payload, or nullptr when it does not fit.
  char* append(uint16_t field, capture::ValueKind kind, uint32_t count, size_t payload_size) {
    size_t needed = sizeof(capture::ValueHeader) + capture::padded(payload_size);
    // The last header's worth of space is kept for kMore.
    if (__builtin_expect(full_ || size_ + needed > kCapacity - sizeof(capture::ValueHeader), 0)) return overflow();
    capture::ValueHeader header{field, kind, 0, count};
    std::memcpy(data_ + size_, &header, sizeof(header));
    char* payload = data_ + size_ + sizeof(header);
    if (payload_size % 8 != 0) std::memset(payload + payload_size / 8 * 8, 0, 8);
    size_ += needed;
    return payload;
  }
  char* overflow();
  void note_more();

  size_t size_ = 0;
  bool full_ = false;
  bool has_more_ = false;
  alignas(8) char data_[kCapacity];
};

}  // namespace framedex::recorder
