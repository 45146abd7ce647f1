// The recorded values of a call, one by one.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

#include "capture_reader/segment_walker.h"
#include "recorder/format/capture_format.h"

namespace framedex::capture {

// `field` is an index into the names of the function's values.
class Value {
 public:
  Value(const ValueHeader& header, std::string_view payload) : header_(header), payload_(payload) {}

  uint16_t field() const { return header_.field; }
  ValueKind kind() const { return header_.kind; }
  // What a small integer or a truth value is; of a text, its bytes.
  uint32_t count() const { return header_.count; }
  std::string_view text() const { return payload_.substr(0, header_.count); }
  // The integers or addresses that the value is made of, and how many there are.
  size_t words() const { return payload_.size() / sizeof(uint64_t); }
  uint64_t word(size_t index) const {
    uint64_t word = 0;
    if (index < words()) std::memcpy(&word, payload_.data() + index * sizeof(word), sizeof(word));
    return word;
  }

 private:
  ValueHeader header_;
  std::string_view payload_;
};

// Takes the next value off the front of `body`, which has one if remaining() is not 0; false if the rest is damaged.
bool take_value(Body* body, Value* value);

}  // namespace framedex::capture
