// Every way in which a handler can fail, for tests: the visible outcome must be the same with and without a recorder.
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

#include "xla/ffi/api/ffi.h"

namespace ffi = xla::ffi;

namespace {

void write_through(volatile int* nowhere) { *nowhere = 1; }

int overflow_stack(size_t depth) {
  volatile char page[4096];
  page[depth % sizeof(page)] = 1;
  return depth == 0 ? page[0] : overflow_stack(depth - 1) + page[0];
}

// `how`: error, exception, number (thrown), segfault, stack overflow, abort; anything else succeeds.
ffi::Error fail(std::string_view how, ffi::Buffer<ffi::F32> x, ffi::ResultBuffer<ffi::F32> y) {
  if (how == "error") return ffi::Error::InvalidArgument("the handler does not want to");
  if (how == "exception") throw std::runtime_error("the handler threw this");
  if (how == "number") throw 42;
  if (how == "segfault") write_through(nullptr);
  if (how == "stack overflow") overflow_stack(SIZE_MAX);
  if (how == "abort") std::abort();
  for (size_t i = 0; i < x.element_count(); ++i) y->typed_data()[i] = x.typed_data()[i];
  return ffi::Error::Success();
}

// Fails in the same ways when the program is compiled.
ffi::Error fail_to_instantiate(std::string_view how) {
  if (how == "segfault while compiling") write_through(nullptr);
  if (how == "error while compiling") return ffi::Error::InvalidArgument("the handler does not want to be compiled");
  return ffi::Error::Success();
}

}  // namespace

XLA_FFI_DEFINE_HANDLER_SYMBOL(
    Fail, fail,
    ffi::Ffi::Bind().Attr<std::string_view>("how").Arg<ffi::Buffer<ffi::F32>>().Ret<ffi::Buffer<ffi::F32>>());

XLA_FFI_DEFINE_HANDLER_SYMBOL(FailToInstantiate, fail_to_instantiate,
                              ffi::Ffi::BindInstantiate().Attr<std::string_view>("how"));

// A custom call of the untyped API: y = x + 1, for one number.
extern "C" void AddOneUntyped(void* out, const void** in) {
  *static_cast<float*>(out) = *static_cast<const float*>(in[0]) + 1;
}
