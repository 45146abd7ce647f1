// Sub-byte elements. XLA's CPU backend packs several into a byte; the host and the mock's memory store one per byte.
#pragma once

#include <cstdint>

#include "pjrt_c_api.h"

namespace framedex::mock {

// Returns the bits of an element that XLA's CPU backend packs, 0 for types that it does not pack.
int packed_bits(PJRT_Buffer_Type type);

// Unpacks elements to one per byte. A byte's first element is in its lowest bits.
void unpack(const char* packed, int bits, char* elements, int64_t count);
void pack(const char* elements, int bits, char* packed, int64_t count);

}  // namespace framedex::mock
