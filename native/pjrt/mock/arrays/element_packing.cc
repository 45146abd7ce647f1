#include "pjrt/mock/arrays/element_packing.h"

#include <cstring>

namespace framedex::mock {

int packed_bits(PJRT_Buffer_Type type) {
  switch (type) {
    case PJRT_Buffer_Type_S1:
    case PJRT_Buffer_Type_U1:
      return 1;
    case PJRT_Buffer_Type_S2:
    case PJRT_Buffer_Type_U2:
      return 2;
    case PJRT_Buffer_Type_S4:
    case PJRT_Buffer_Type_U4:
    case PJRT_Buffer_Type_F4E2M1FN:
      return 4;
    default:
      return 0;
  }
}

void unpack(const char* packed, int bits, char* elements, int64_t count) {
  const int per_byte = 8 / bits;
  const int mask = (1 << bits) - 1;
  for (int64_t i = 0; i < count; ++i) {
    int value = static_cast<unsigned char>(packed[i / per_byte]) >> (i % per_byte * bits);
    elements[i] = static_cast<char>(value & mask);
  }
}

void pack(const char* elements, int bits, char* packed, int64_t count) {
  const int per_byte = 8 / bits;
  const int mask = (1 << bits) - 1;
  std::memset(packed, 0, static_cast<size_t>((count + per_byte - 1) / per_byte));
  for (int64_t i = 0; i < count; ++i) {
    packed[i / per_byte] = static_cast<char>(packed[i / per_byte] | (elements[i] & mask) << (i % per_byte * bits));
  }
}

}  // namespace framedex::mock
