// The input bytes of one fuzzer run, read front to back.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace framedex::fuzz {

// Beyond the end, numbers are zero and texts are shorter than requested.
class Input {
 public:
  Input(const uint8_t* data, size_t size) : bytes_(reinterpret_cast<const char*>(data), size) {}

  bool at_end() const { return bytes_.empty(); }
  std::string_view rest() const { return bytes_; }

  std::string_view take(size_t size) {
    std::string_view taken = bytes_.substr(0, size);
    bytes_.remove_prefix(taken.size());
    return taken;
  }
  // Little endian.
  template <typename Number>
  Number number() {
    Number value{};
    std::string_view taken = take(sizeof(value));
    std::memcpy(&value, taken.data(), taken.size());
    return value;
  }
  // Reads a text with a two-byte size. It is a copy, so that a sanitizer sees its end.
  std::string text() { return std::string(take(number<uint16_t>())); }

 private:
  std::string_view bytes_;
};

// Crashes the run if a guarantee of the tested code is broken.
inline void require(bool holds) {
  if (!holds) __builtin_trap();
}

}  // namespace framedex::fuzz
