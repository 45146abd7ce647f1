// Copies arrays between layouts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "pjrt_c_api.h"

namespace framedex::mock {

using Strides = std::vector<int64_t>;  // bytes between neighbouring elements, per dimension

// Returns the dimensions in row-major order, from the fastest-changing to the slowest.
std::vector<int64_t> row_major_order(size_t rank);
Strides make_row_major(const std::vector<int64_t>& dims, int64_t element_bytes);
// Returns the strides of a host layout; row-major without one.
Strides strides_of(const PJRT_Buffer_MemoryLayout* layout, const std::vector<int64_t>& dims, int64_t element_bytes);

void copy_strided(char* target, const Strides& target_strides, const char* source, const Strides& source_strides,
                  const std::vector<int64_t>& dims, int64_t element_bytes);

}  // namespace framedex::mock
