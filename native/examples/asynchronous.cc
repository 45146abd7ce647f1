// A handler that returns before its work is done: XLA waits for the future, not for the handler.
#include <cstddef>
#include <thread>
#include <utility>

#include "xla/ffi/api/ffi.h"

namespace ffi = xla::ffi;

namespace {

// y = x * factor, on its own thread.
ffi::Future scale_later(float factor, ffi::Buffer<ffi::F32> x, ffi::ResultBuffer<ffi::F32> y) {
  ffi::Promise promise;
  ffi::Future future(promise);
  std::thread([=, result = *y, promise = std::move(promise)]() mutable {
    for (size_t i = 0; i < x.element_count(); ++i) result.typed_data()[i] = x.typed_data()[i] * factor;
    promise.SetAvailable();
  }).detach();
  return future;
}

}  // namespace

XLA_FFI_DEFINE_HANDLER_SYMBOL(
    ScaleLater, scale_later,
    ffi::Ffi::Bind().Attr<float>("factor").Arg<ffi::Buffer<ffi::F32>>().Ret<ffi::Buffer<ffi::F32>>());
