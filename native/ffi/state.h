// XLA's state of a custom call, for all versions of the FFI API. Version 0.3 inserted a member into these structs.
#pragma once

#include "pjrt_c_api.h"

namespace framedex::ffi {

// Registers a state type. `deleter` runs when an executable that holds such a state is destroyed. Returns false on
// failure.
bool register_type(const XLA_FFI_Api& api, const char* name, void (*deleter)(void*), XLA_FFI_TypeId* type);
// Sets the state of the custom call being instantiated. The caller must return the error to XLA.
XLA_FFI_Error* set_state(const XLA_FFI_CallFrame& frame, XLA_FFI_TypeId* type, void* state, void (*deleter)(void*));
// Returns the state created at instantiation, nullptr if there is none of this type.
void* get_state(const XLA_FFI_CallFrame& frame, XLA_FFI_TypeId* type);

void destroy_error(const XLA_FFI_Api& api, XLA_FFI_Error* error);

}  // namespace framedex::ffi
