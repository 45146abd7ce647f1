#include "pjrt/mock/arrays/layout.h"

#include "pjrt/mock/arrays/element_packing.h"
#include "pjrt/mock/arrays/strided_copy.h"

namespace framedex::mock {
namespace {

template <typename Number>
std::string joined(const Number* numbers, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) text += (i == 0 ? "" : ",") + std::to_string(numbers[i]);
  return text;
}

}  // namespace

Layout row_major_layout(size_t rank) { return {row_major_order(rank), {}, {}}; }

Layout layout_of(const PJRT_Buffer_MemoryLayout* requested, size_t rank) {
  bool is_given = requested != nullptr && requested->type == PJRT_Buffer_MemoryLayout_Type_Tiled &&
                  requested->tiled.minor_to_major_size == rank;
  if (!is_given) return row_major_layout(rank);
  const PJRT_Buffer_MemoryLayout_Tiled& tiled = requested->tiled;
  Layout layout;
  layout.minor_to_major.assign(tiled.minor_to_major, tiled.minor_to_major + rank);
  layout.tile_ranks.assign(tiled.tile_dim_sizes, tiled.tile_dim_sizes + tiled.num_tiles);
  size_t dims = 0;
  for (size_t tile_rank : layout.tile_ranks) dims += tile_rank;
  layout.tile_dims.assign(tiled.tile_dims, tiled.tile_dims + dims);
  return layout;
}

std::string to_text(const Layout& layout, PJRT_Buffer_Type type) {
  std::string properties;
  const int64_t* dims = layout.tile_dims.data();
  for (size_t rank : layout.tile_ranks) {
    properties += (properties.empty() ? "T(" : "(") + joined(dims, rank) + ")";
    dims += rank;
  }
  if (int bits = packed_bits(type); bits != 0) properties += "E(" + std::to_string(bits) + ")";
  std::string order = joined(layout.minor_to_major.data(), layout.minor_to_major.size());
  return "{" + order + (properties.empty() ? "" : ":" + properties) + "}";
}

}  // namespace framedex::mock
