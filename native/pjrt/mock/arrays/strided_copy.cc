#include "pjrt/mock/arrays/strided_copy.h"

#include <cstring>

namespace framedex::mock {
namespace {

Strides from_order(const int64_t* minor_to_major, const std::vector<int64_t>& dims, int64_t element_bytes) {
  Strides strides(dims.size());
  int64_t stride = element_bytes;
  for (size_t i = 0; i < dims.size(); ++i) {
    auto dimension = static_cast<size_t>(minor_to_major[i]);
    strides[dimension] = stride;
    stride *= dims[dimension];
  }
  return strides;
}

void copy_from(size_t dimension, char* target, const Strides& target_strides, const char* source,
               const Strides& source_strides, const std::vector<int64_t>& dims, int64_t element_bytes) {
  if (dimension == dims.size()) {
    std::memcpy(target, source, static_cast<size_t>(element_bytes));
    return;
  }
  bool is_contiguous_row = dimension + 1 == dims.size() && target_strides[dimension] == element_bytes &&
                           source_strides[dimension] == element_bytes;
  if (is_contiguous_row) {
    std::memcpy(target, source, static_cast<size_t>(element_bytes * dims[dimension]));
    return;
  }
  for (int64_t i = 0; i < dims[dimension]; ++i) {
    copy_from(dimension + 1, target + i * target_strides[dimension], target_strides,
              source + i * source_strides[dimension], source_strides, dims, element_bytes);
  }
}

}  // namespace

std::vector<int64_t> row_major_order(size_t rank) {
  std::vector<int64_t> order(rank);
  for (size_t i = 0; i < rank; ++i) order[i] = static_cast<int64_t>(rank - 1 - i);
  return order;
}

Strides make_row_major(const std::vector<int64_t>& dims, int64_t element_bytes) {
  return from_order(row_major_order(dims.size()).data(), dims, element_bytes);
}

Strides strides_of(const PJRT_Buffer_MemoryLayout* layout, const std::vector<int64_t>& dims, int64_t element_bytes) {
  if (layout != nullptr && layout->type == PJRT_Buffer_MemoryLayout_Type_Strides &&
      layout->strides.num_byte_strides == dims.size()) {
    return {layout->strides.byte_strides, layout->strides.byte_strides + dims.size()};
  }
  if (layout != nullptr && layout->type == PJRT_Buffer_MemoryLayout_Type_Tiled &&
      layout->tiled.minor_to_major_size == dims.size()) {
    return from_order(layout->tiled.minor_to_major, dims, element_bytes);
  }
  return make_row_major(dims, element_bytes);
}

void copy_strided(char* target, const Strides& target_strides, const char* source, const Strides& source_strides,
                  const std::vector<int64_t>& dims, int64_t element_bytes) {
  size_t bytes = static_cast<size_t>(element_bytes);
  for (int64_t dim : dims) bytes *= static_cast<size_t>(dim);
  if (bytes == 0) return;
  Strides dense = make_row_major(dims, element_bytes);
  if (target_strides == dense && source_strides == dense) {
    std::memcpy(target, source, bytes);
  } else {
    copy_from(0, target, target_strides, source, source_strides, dims, element_bytes);
  }
}

}  // namespace framedex::mock
