// XLA's state of a custom call, over the versions of the FFI API: 0.3 put a member into the middle of these structs.
#pragma once

#include "pjrt_c_api.h"

namespace framedex::ffi {

// Registers the type of a state; `deleter` is called when the executable that holds one goes. False if it cannot be.
bool register_type(const XLA_FFI_Api& api, const char* name, void (*deleter)(void*), XLA_FFI_TypeId* type);
// Makes `state` the state of the custom call that is being instantiated. The caller passes the error on.
XLA_FFI_Error* set_state(const XLA_FFI_CallFrame& frame, XLA_FFI_TypeId* type, void* state, void (*deleter)(void*));
// The state that was made when the custom call was instantiated, nullptr if it has none of this type.
void* get_state(const XLA_FFI_CallFrame& frame, XLA_FFI_TypeId* type);

void destroy_error(const XLA_FFI_Api& api, XLA_FFI_Error* error);

}  // namespace framedex::ffi
