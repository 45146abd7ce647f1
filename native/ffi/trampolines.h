// Functions that know which slot they are: XLA calls a handler with nothing that says which one was meant.
#pragma once

#include "ffi/slots.h"

namespace framedex::ffi {

// Runs the handler of the slot.
XLA_FFI_Handler* trampoline(size_t slot);
// The instantiate stage for a slot whose handler has none.
XLA_FFI_Handler* instantiate_trampoline(size_t slot);
UntypedHandler* untyped_trampoline(size_t slot);

}  // namespace framedex::ffi
