#include "pjrt/element_size.h"

#include <cstdint>

namespace framedex::pjrt {

int element_bits(PJRT_Buffer_Type type) {
  switch (type) {
    case PJRT_Buffer_Type_INVALID:
    case PJRT_Buffer_Type_TOKEN:
      return 0;
    case PJRT_Buffer_Type_S16:
    case PJRT_Buffer_Type_U16:
    case PJRT_Buffer_Type_F16:
    case PJRT_Buffer_Type_BF16:
      return 16;
    case PJRT_Buffer_Type_S32:
    case PJRT_Buffer_Type_U32:
    case PJRT_Buffer_Type_F32:
      return 32;
    case PJRT_Buffer_Type_S64:
    case PJRT_Buffer_Type_U64:
    case PJRT_Buffer_Type_F64:
    case PJRT_Buffer_Type_C64:
      return 64;
    case PJRT_Buffer_Type_C128:
      return 128;
    default:
      return 8;
  }
}

int64_t dense_bytes(PJRT_Buffer_Type type, const int64_t* dims, size_t rank) {
  int64_t bytes = element_bits(type) / 8;
  for (size_t i = 0; i < rank; ++i) {
    // No real array is that large: the caller passed wrong or damaged dimensions.
    if (__builtin_mul_overflow(bytes, dims[i], &bytes)) return INT64_MAX;
  }
  return bytes;
}

}  // namespace framedex::pjrt
