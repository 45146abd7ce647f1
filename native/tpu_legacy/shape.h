// Shapes as they cross the API: lists that are inlined up to a size, nested for tuples.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "tpu_c_api.h"

namespace framedex::tpu_legacy {

// Int64List and its like hold a few elements themselves and have more on the heap.
template <typename List>
using Element = std::remove_extent_t<decltype(List::inlined)>;
template <typename List>
bool is_inlined(const List& list) {
  return list.size <= static_cast<int64_t>(std::extent_v<decltype(List::inlined)>);
}
template <typename List>
const Element<List>* elements(const List& list) {
  return is_inlined(list) ? list.inlined : list.heap;
}

inline bool is_tuple(const XLA_Shape& shape) { return shape.element_type == TpuPrimitiveType_TUPLE; }

// Bytes of one element; 0 for what has no data, such as a token.
int64_t element_size(int element_type);
// Bytes that a dense array takes on the device; for a tuple, those of its table of addresses.
int64_t byte_size(const XLA_Shape& shape);

// A copy that jaxlib frees, with the row-major layout where the shape has none.
XLA_Shape copy_for_device(const XLA_Shape& shape);
// Frees what such a copy holds.
void destroy(XLA_Shape& shape);

// Whether an array lies row-major, or has no layout that says otherwise, and is not tiled.
bool is_row_major(const XLA_Shape& shape);

// Whether two arrays lie in memory alike; true where one has no layout.
bool has_same_order(const XLA_Shape& one, const XLA_Shape& other);

// Writes a shape as HLO does, `f32[2,3]{1,0}`, into `text`, cut off at `capacity`; returns its length.
size_t write(const XLA_Shape& shape, char* text, size_t capacity);

}  // namespace framedex::tpu_legacy
