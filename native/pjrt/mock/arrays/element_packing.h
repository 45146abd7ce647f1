// Elements of less than a byte: XLA's CPU packs them, the host and the mock's memory keep one to a byte.
#pragma once

#include <cstdint>

#include "pjrt_c_api.h"

namespace framedex::mock {

// Bits of an element where XLA's CPU packs several into a byte, 0 where it does not.
int packed_bits(PJRT_Buffer_Type type);

// The first element of a byte is in its lowest bits.
void unpack(const char* packed, int bits, char* elements, int64_t count);
void pack(const char* elements, int bits, char* packed, int64_t count);

}  // namespace framedex::mock
