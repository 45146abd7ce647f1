// Converts LU pivots to a permutation: the example of JAX pull request 21925, on the CPU.
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>

#include "xla/ffi/api/ffi.h"

namespace ffi = xla::ffi;

namespace {

// `pivots` is [..., pivot_count] with row numbers from 0, `permutation` is [..., permutation_size].
ffi::Error lu_pivots_to_permutation(int32_t permutation_size, ffi::Buffer<ffi::S32> pivots,
                                    ffi::ResultBuffer<ffi::S32> permutation) {
  auto dims = pivots.dimensions();
  if (dims.size() == 0) return ffi::Error::InvalidArgument("pivots must have at least one axis");
  auto pivot_count = static_cast<size_t>(dims.back());
  auto size = static_cast<size_t>(permutation_size);
  if (pivot_count > size) return ffi::Error::InvalidArgument("there are more pivots than rows to permute");
  size_t batches = permutation->element_count() / size;
  for (size_t batch = 0; batch < batches; ++batch) {
    const int32_t* swaps = pivots.typed_data() + batch * pivot_count;
    int32_t* rows = permutation->typed_data() + batch * size;
    std::iota(rows, rows + size, 0);
    for (size_t i = 0; i < pivot_count; ++i) {
      if (swaps[i] < 0 || static_cast<size_t>(swaps[i]) >= size) {
        return ffi::Error::InvalidArgument("a pivot is not the number of a row");
      }
      std::swap(rows[i], rows[swaps[i]]);
    }
  }
  return ffi::Error::Success();
}

}  // namespace

XLA_FFI_DEFINE_HANDLER_SYMBOL(
    LuPivotsToPermutation, lu_pivots_to_permutation,
    ffi::Ffi::Bind().Attr<int32_t>("permutation_size").Arg<ffi::Buffer<ffi::S32>>().Ret<ffi::Buffer<ffi::S32>>());
