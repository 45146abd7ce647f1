// A handler with state: every custom call of a compiled program counts its runs.
#include <atomic>
#include <cstdint>
#include <memory>

#include "xla/ffi/api/ffi.h"

namespace ffi = xla::ffi;

namespace {

struct Counter {
  static ffi::TypeId id;
  explicit Counter(int32_t start) : runs(start) {}
  std::atomic<int32_t> runs;
};

ffi::TypeId Counter::id = {};

// Runs once, when the executable is loaded.
ffi::ErrorOr<std::unique_ptr<Counter>> make_counter(int32_t start) { return std::make_unique<Counter>(start); }

// y = x + the number of earlier runs of this custom call. Every stage gets the attributes.
ffi::Error count_run(Counter* counter, int32_t /*start*/, ffi::Buffer<ffi::S32> x, ffi::ResultBuffer<ffi::S32> y) {
  int32_t before = counter->runs.fetch_add(1);
  for (size_t i = 0; i < x.element_count(); ++i) y->typed_data()[i] = x.typed_data()[i] + before;
  return ffi::Error::Success();
}

}  // namespace

// For jax.ffi.register_ffi_type: XLA assigns the type's number and gets the destructor for states.
extern "C" XLA_FFI_TypeId* CounterTypeId() { return &Counter::id; }
#if XLA_FFI_API_MINOR >= 2  // in older versions a state carries its destructor
extern "C" const XLA_FFI_TypeInfo* CounterTypeInfo() {
  static const ffi::TypeInfo info = ffi::MakeTypeInfo<Counter>();
  return &info;
}
#endif

XLA_FFI_DEFINE_HANDLER_SYMBOL(CounterInstantiate, make_counter, ffi::Ffi::BindInstantiate().Attr<int32_t>("start"));

XLA_FFI_DEFINE_HANDLER_SYMBOL(CounterExecute, count_run,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::State<Counter>>()
                                  .Attr<int32_t>("start")
                                  .Arg<ffi::Buffer<ffi::S32>>()
                                  .Ret<ffi::Buffer<ffi::S32>>());
