// Layouts: how the elements of an array are said to lie in memory. The mock itself keeps every array row-major.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pjrt_c_api.h"

namespace framedex::mock {

struct Layout {
  std::vector<int64_t> minor_to_major;
  std::vector<int64_t> tile_dims;  // of all tiles, one after the other
  std::vector<size_t> tile_ranks;
};

Layout row_major_layout(size_t rank);
// The layout that a call asks for; row-major where it asks for none, or for strides.
Layout layout_of(const PJRT_Buffer_MemoryLayout* asked, size_t rank);
// A layout as XLA writes and reads it: `{1,0:T(8,128)(2,1)}`, `{0:E(4)}`.
std::string to_text(const Layout& layout, PJRT_Buffer_Type type);

}  // namespace framedex::mock

// A layout as the Layouts extension hands it out.
struct PJRT_Layouts_MemoryLayout {
  std::string text;
};
