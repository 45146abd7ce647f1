// What an array is: the type of its elements, its dimensions, and the layout that it is said to have.
#pragma once

#include <cstdint>
#include <vector>

#include "pjrt/mock/arrays/layout.h"
#include "pjrt_c_api.h"

namespace framedex::mock {

// The elements lie densely in row-major order, whatever layout was asked for and is given as answer.
struct Shape {
  Shape(PJRT_Buffer_Type element_type, const std::vector<int64_t>& dimensions);
  Shape(PJRT_Buffer_Type element_type, std::vector<int64_t> dimensions, Layout answered_layout);

  const PJRT_Buffer_Type type;
  const std::vector<int64_t> dims;
  const Layout layout;
  const int64_t bytes;  // in host memory, where types of less than a byte take one
};

}  // namespace framedex::mock
