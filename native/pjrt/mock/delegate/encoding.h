// Values as bytes, one after another: integers and reals in eight bytes, texts and sequences after their length.
// Executables are serialised in this form, and the mock's Python half describes programs in it (mock_tpu/encoding.py).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace framedex::mock {

class Encoder {
 public:
  void integer(int64_t value);
  void text(std::string_view value);

  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

// Reads values. From where the bytes do not fit, everything is zero or empty.
class Decoder {
 public:
  explicit Decoder(std::string_view bytes) : bytes_(bytes) {}

  int64_t integer();
  double real();
  std::string text();
  // Calls `read()` once for each element of a sequence.
  template <typename Read>
  void each(Read read) {
    for (uint64_t left = length(); left > 0 && !failed_; --left) read();
  }

  bool has_failed() const { return failed_; }
  // Whether nothing was missing, and nothing is left.
  bool is_complete() const { return !failed_ && bytes_.empty(); }

 private:
  template <typename Number>
  Number number();
  uint64_t length();

  std::string_view bytes_;
  bool failed_ = false;
};

}  // namespace framedex::mock
