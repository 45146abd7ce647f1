// Root-mean-square normalisation of the last axis, and its derivative: after JAX's FFI tutorial.
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "xla/ffi/api/ffi.h"

namespace ffi = xla::ffi;

namespace {

// Rows of `size` values each.
struct Rows {
  size_t count;
  size_t size;
};

Rows rows_of(const ffi::AnyBuffer::Dimensions& dims) {
  size_t size = dims.size() == 0 ? 1 : static_cast<size_t>(dims.back());
  size_t total = 1;
  for (int64_t dim : dims) total *= static_cast<size_t>(dim);
  return {size == 0 ? 0 : total / size, size};
}

// y = x * scale with scale = 1 / sqrt(mean(x^2) + eps); returns the scale.
float normalize_row(float eps, size_t size, const float* x, float* y) {
  float sum = 0;
  for (size_t i = 0; i < size; ++i) sum += x[i] * x[i];
  float scale = 1 / std::sqrt(sum / static_cast<float>(size) + eps);
  for (size_t i = 0; i < size; ++i) y[i] = x[i] * scale;
  return scale;
}

ffi::Error rms_norm(float eps, ffi::Buffer<ffi::F32> x, ffi::ResultBuffer<ffi::F32> y) {
  Rows rows = rows_of(x.dimensions());
  for (size_t row = 0; row < rows.count; ++row) {
    normalize_row(eps, rows.size, x.typed_data() + row * rows.size, y->typed_data() + row * rows.size);
  }
  return ffi::Error::Success();
}

// The forward half of a differentiated call also returns the scales, which the backward half needs.
ffi::Error rms_norm_forward(float eps, ffi::Buffer<ffi::F32> x, ffi::ResultBuffer<ffi::F32> y,
                            ffi::ResultBuffer<ffi::F32> scales) {
  Rows rows = rows_of(x.dimensions());
  for (size_t row = 0; row < rows.count; ++row) {
    size_t at = row * rows.size;
    scales->typed_data()[row] = normalize_row(eps, rows.size, x.typed_data() + at, y->typed_data() + at);
  }
  return ffi::Error::Success();
}

ffi::Error rms_norm_backward(ffi::Buffer<ffi::F32> scales, ffi::Buffer<ffi::F32> x, ffi::Buffer<ffi::F32> ct_y,
                             ffi::ResultBuffer<ffi::F32> ct_x) {
  Rows rows = rows_of(x.dimensions());
  for (size_t row = 0; row < rows.count; ++row) {
    const float* xs = x.typed_data() + row * rows.size;
    const float* ct_ys = ct_y.typed_data() + row * rows.size;
    float* ct_xs = ct_x->typed_data() + row * rows.size;
    float scale = scales.typed_data()[row];
    float ct_scale = 0;
    for (size_t i = 0; i < rows.size; ++i) ct_scale += xs[i] * ct_ys[i];
    ct_scale *= scale * scale * scale / static_cast<float>(rows.size);
    for (size_t i = 0; i < rows.size; ++i) ct_xs[i] = scale * ct_ys[i] - ct_scale * xs[i];
  }
  return ffi::Error::Success();
}

}  // namespace

XLA_FFI_DEFINE_HANDLER_SYMBOL(
    RmsNorm, rms_norm, ffi::Ffi::Bind().Attr<float>("eps").Arg<ffi::Buffer<ffi::F32>>().Ret<ffi::Buffer<ffi::F32>>());

XLA_FFI_DEFINE_HANDLER_SYMBOL(RmsNormForward, rms_norm_forward,
                              ffi::Ffi::Bind()
                                  .Attr<float>("eps")
                                  .Arg<ffi::Buffer<ffi::F32>>()
                                  .Ret<ffi::Buffer<ffi::F32>>()
                                  .Ret<ffi::Buffer<ffi::F32>>());

XLA_FFI_DEFINE_HANDLER_SYMBOL(RmsNormBackward, rms_norm_backward,
                              ffi::Ffi::Bind()
                                  .Arg<ffi::Buffer<ffi::F32>>()
                                  .Arg<ffi::Buffer<ffi::F32>>()
                                  .Arg<ffi::Buffer<ffi::F32>>()
                                  .Ret<ffi::Buffer<ffi::F32>>());
