#include "ffi/trampolines.h"

#include <utility>

#include "ffi/handler_run.h"
#include "ffi/instances.h"

namespace framedex::ffi {
namespace {

// Jumps to the shared function, and so adds no frame.
template <size_t kIndex>
XLA_FFI_Error* run_slot(XLA_FFI_CallFrame* frame) {
  return run(slots[kIndex], frame);
}

template <size_t kIndex>
XLA_FFI_Error* instantiate_slot(XLA_FFI_CallFrame* frame) {
  return instantiate(slots[kIndex], frame);
}

template <size_t kIndex>
void run_untyped_slot(void* a, void* b, void* c, void* d, void* e) {
  run_untyped(untyped_slots[kIndex], a, b, c, d, e);
}

template <size_t... kIndex>
constexpr auto make_trampolines(std::index_sequence<kIndex...>) {
  return std::array<XLA_FFI_Handler*, sizeof...(kIndex)>{{run_slot<kIndex>...}};
}

template <size_t... kIndex>
constexpr auto make_instantiate_trampolines(std::index_sequence<kIndex...>) {
  return std::array<XLA_FFI_Handler*, sizeof...(kIndex)>{{instantiate_slot<kIndex>...}};
}

template <size_t... kIndex>
constexpr auto make_untyped_trampolines(std::index_sequence<kIndex...>) {
  return std::array<UntypedHandler*, sizeof...(kIndex)>{{run_untyped_slot<kIndex>...}};
}

constexpr auto kTrampolines = make_trampolines(std::make_index_sequence<kSlots>{});
constexpr auto kInstantiateTrampolines = make_instantiate_trampolines(std::make_index_sequence<kSlots>{});
constexpr auto kUntypedTrampolines = make_untyped_trampolines(std::make_index_sequence<kUntypedSlots>{});

}  // namespace

XLA_FFI_Handler* trampoline(size_t slot) { return kTrampolines[slot]; }
XLA_FFI_Handler* instantiate_trampoline(size_t slot) { return kInstantiateTrampolines[slot]; }
UntypedHandler* untyped_trampoline(size_t slot) { return kUntypedTrampolines[slot]; }

}  // namespace framedex::ffi
