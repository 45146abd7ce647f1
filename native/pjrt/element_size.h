// The size of arrays in host memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "pjrt_c_api.h"

namespace framedex::pjrt {

// Returns the bits of an element in host memory, where each sub-byte element takes a whole byte; 0 for types without
// data.
int element_bits(PJRT_Buffer_Type type);
// Returns the size in bytes of a dense array in host memory; INT64_MAX if it does not fit in 64 bits.
int64_t dense_bytes(PJRT_Buffer_Type type, const int64_t* dims, size_t rank);

}  // namespace framedex::pjrt
