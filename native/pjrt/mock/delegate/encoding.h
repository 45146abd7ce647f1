// A binary encoding. Integers and reals take eight bytes; texts and sequences follow their length. Serialised
// executables and the program descriptions of the Python half use it (mock_tpu/encoding.py).
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

// Decodes values. After the first malformed value it returns zeros and empty values.
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
  // Whether all values were complete and no bytes are left.
  bool is_complete() const { return !failed_ && bytes_.empty(); }

 private:
  template <typename Number>
  Number number();
  uint64_t length();

  std::string_view bytes_;
  bool failed_ = false;
};

}  // namespace framedex::mock
