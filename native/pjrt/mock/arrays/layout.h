// Array layouts as reported to the caller. The mock itself stores every array row-major.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pjrt_c_api.h"

namespace framedex::mock {

struct Layout {
  std::vector<int64_t> minor_to_major;
  std::vector<int64_t> tile_dims;  // of all tiles, concatenated
  std::vector<size_t> tile_ranks;
};

Layout row_major_layout(size_t rank);
// Returns the requested layout; row-major if the call requests no layout, or requests strides.
Layout layout_of(const PJRT_Buffer_MemoryLayout* requested, size_t rank);
// Formats a layout as XLA does: `{1,0:T(8,128)(2,1)}`, `{0:E(4)}`.
std::string to_text(const Layout& layout, PJRT_Buffer_Type type);

}  // namespace framedex::mock

// A layout as returned by the Layouts extension.
struct PJRT_Layouts_MemoryLayout {
  std::string text;
};
