// How many bytes arrays take in host memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "pjrt_c_api.h"

namespace framedex::pjrt {

// Bits that one element takes in host memory, where types of less than a byte are kept one to a byte; 0: no data.
int element_bits(PJRT_Buffer_Type type);
// Size in bytes of a dense array in host memory; INT64_MAX where that is no number of 64 bits.
int64_t dense_bytes(PJRT_Buffer_Type type, const int64_t* dims, size_t rank);

}  // namespace framedex::pjrt
