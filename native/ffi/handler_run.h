// Runs the handler behind a trampoline and records the run; passes arguments and results through unchanged.
#pragma once

#include "ffi/slots.h"

namespace framedex::ffi {

XLA_FFI_Error* run(Slot& slot, XLA_FFI_CallFrame* frame);
void run_untyped(UntypedSlot& slot, void* a, void* b, void* c, void* d, void* e);

}  // namespace framedex::ffi
