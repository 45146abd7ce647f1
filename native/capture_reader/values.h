// Decodes the recorded values of a call, of every format version.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

#include "capture_reader/segment_walker.h"
#include "recorder/format/capture_format.h"

namespace framedex::capture {

// `field` is an index into the function's value names. Addresses of every encoding have the kind kAddress.
class Value {
 public:
  Value() = default;
  // A value whose payload is words of `size` bytes each (1 to 8), or a text.
  Value(uint16_t field, ValueKind kind, uint32_t count, std::string_view payload, size_t size)
      : field_(field), kind_(kind), size_(static_cast<uint8_t>(size)), count_(count), payload_(payload) {}

  uint16_t field() const { return field_; }
  ValueKind kind() const { return kind_; }
  // Returns a small integer or a truth value; for a text, its size in bytes.
  uint32_t count() const { return count_; }
  std::string_view text() const { return payload_.substr(0, count_); }
  // The integers or addresses of the value, and their number.
  size_t words() const { return payload_.size() / size_; }
  uint64_t word(size_t index) const {
    uint64_t word = 0;
    if (index >= words()) return word;
    std::memcpy(&word, payload_.data() + index * size_, size_);
    if (kind_ != ValueKind::kIntegers) return word;
    unsigned above = 64 - 8u * size_;
    return static_cast<uint64_t>(static_cast<int64_t>(word << above) >> above);
  }

 private:
  uint16_t field_ = 0;
  ValueKind kind_ = ValueKind::kMore;
  uint8_t size_ = sizeof(uint64_t);  // of a word, in bytes
  uint32_t count_ = 0;
  std::string_view payload_;
};

// Takes the next value from the front of `body`. Call only if remaining() is not 0. Returns false if the rest is
// damaged.
bool take_value(Body* body, Value* value);

}  // namespace framedex::capture
