// Shapes in the C API's form: lists that are inline up to a size, nested for tuples.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "tpu_c_api.h"

namespace framedex::tpu_legacy {

// Int64List and similar lists hold a few elements inline, and more on the heap.
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

// Returns the bytes of one element; 0 for types without data, such as a token.
int64_t element_size(int element_type);
// Returns the bytes of a dense array on the device; for a tuple, those of its table of addresses.
int64_t byte_size(const XLA_Shape& shape);

// Returns a copy for jaxlib to free, with the row-major layout if the shape has none.
XLA_Shape copy_for_device(const XLA_Shape& shape);
// Frees the members of such a copy.
void destroy(XLA_Shape& shape);

// Returns whether an array is untiled and row-major, or has no layout.
bool is_row_major(const XLA_Shape& shape);

// Returns whether two arrays have the same memory order; true if one has no layout.
bool has_same_order(const XLA_Shape& one, const XLA_Shape& other);

// Writes a shape in HLO's form, `f32[2,3]{1,0}`, into `text`, truncated to `capacity`. Returns its length.
size_t write(const XLA_Shape& shape, char* text, size_t capacity);

}  // namespace framedex::tpu_legacy
