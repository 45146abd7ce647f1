#include "pjrt/mock/delegate/encoding.h"

#include <cstring>

namespace framedex::mock {

void Encoder::integer(int64_t value) { bytes_.append(reinterpret_cast<const char*>(&value), sizeof(value)); }

void Encoder::text(std::string_view value) {
  integer(static_cast<int64_t>(value.size()));
  bytes_ += value;
}

int64_t Decoder::integer() { return number<int64_t>(); }
double Decoder::real() { return number<double>(); }

std::string Decoder::text() {
  uint64_t size = length();
  std::string value(bytes_.substr(0, size));
  bytes_.remove_prefix(size);
  return value;
}

template <typename Number>
Number Decoder::number() {
  Number value{};
  failed_ = failed_ || bytes_.size() < sizeof(value);
  if (failed_) return {};
  std::memcpy(&value, bytes_.data(), sizeof(value));
  bytes_.remove_prefix(sizeof(value));
  return value;
}

// Every character and every element takes at least a byte, so a length beyond the remaining bytes is malformed.
uint64_t Decoder::length() {
  uint64_t value = number<uint64_t>();
  failed_ = failed_ || value > bytes_.size();
  return failed_ ? 0 : value;
}

}  // namespace framedex::mock
