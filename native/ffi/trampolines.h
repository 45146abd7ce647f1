// One function per slot. XLA does not pass the handler's identity to it, so each handler needs its own address.
#pragma once

#include "ffi/slots.h"

namespace framedex::ffi {

// Returns the function that runs the slot's handler.
XLA_FFI_Handler* trampoline(size_t slot);
// Returns the instantiate stage for a slot whose handler has none.
XLA_FFI_Handler* instantiate_trampoline(size_t slot);
UntypedHandler* untyped_trampoline(size_t slot);

}  // namespace framedex::ffi
