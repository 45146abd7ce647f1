// The shape of an array: element type, dimensions, and reported layout.
#pragma once

#include <cstdint>
#include <vector>

#include "pjrt/mock/arrays/layout.h"
#include "pjrt_c_api.h"

namespace framedex::mock {

// Elements are stored densely in row-major order, independent of the requested and reported layout.
struct Shape {
  Shape(PJRT_Buffer_Type element_type, const std::vector<int64_t>& dimensions);
  Shape(PJRT_Buffer_Type element_type, std::vector<int64_t> dimensions, Layout answered_layout);

  const PJRT_Buffer_Type type;
  const std::vector<int64_t> dims;
  const Layout layout;
  const int64_t bytes;  // in host memory, where sub-byte types take a whole byte
};

}  // namespace framedex::mock
