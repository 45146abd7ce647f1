#include "replay/seeded_content.h"

#include <cstring>

#include "pjrt/element_size.h"

namespace framedex::replay {
namespace {

// splitmix64
uint64_t next(uint64_t& state) {
  uint64_t mixed = state += 0x9E3779B97F4A7C15u;
  mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9u;
  mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EBu;
  return mixed ^ mixed >> 31;
}

template <typename Real>
Real real(uint64_t bits) {
  return static_cast<Real>(static_cast<double>(static_cast<int64_t>(bits)) / 9223372036854775808.0);
}

template <typename Value>
void append(std::string& content, Value value) {
  content.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

// The upper half of a float's bits is a BF16.
uint16_t upper_half(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return static_cast<uint16_t>(bits >> 16);
}

void append_element(std::string& content, PJRT_Buffer_Type type, uint64_t bits) {
  switch (type) {
    case PJRT_Buffer_Type_F64:
      return append(content, real<double>(bits));
    case PJRT_Buffer_Type_F32:
      return append(content, real<float>(bits));
    case PJRT_Buffer_Type_BF16:
      return append(content, upper_half(real<float>(bits)));
    case PJRT_Buffer_Type_F16:  // a sign, an exponent of 2^-4 to 2^-1, and 10 bits of the significand
      return append(content, static_cast<uint16_t>((bits & 0x8000) | (11 + (bits >> 20) % 4) << 10 | (bits & 0x3FF)));
    case PJRT_Buffer_Type_C64:
      append(content, real<float>(bits));
      return append(content, real<float>(bits * 0xD6E8FEB86659FD93u));
    case PJRT_Buffer_Type_C128:
      append(content, real<double>(bits));
      return append(content, real<double>(bits * 0xD6E8FEB86659FD93u));
    case PJRT_Buffer_Type_PRED:
    case PJRT_Buffer_Type_S2:
    case PJRT_Buffer_Type_U2:
      return append(content, static_cast<uint8_t>(bits >> 60 & 1));
    default:  // integers, and reals of 8 bits, which are then small too
      uint64_t small = bits >> 60 & 7;
      content.append(reinterpret_cast<const char*>(&small), static_cast<size_t>(pjrt::element_bits(type)) / 8);
  }
}

}  // namespace

std::string make_seeded_content(PJRT_Buffer_Type type, size_t count, uint64_t seed) {
  std::string content;
  for (size_t i = 0; i < count; ++i) append_element(content, type, next(seed));
  return content;
}

}  // namespace framedex::replay
