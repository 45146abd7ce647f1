#include "ffi/state.h"

#include <cstddef>
#include <cstring>

namespace framedex::ffi {
namespace {

// XLA_FFI_State_Set_Args of API 0.1 (jaxlib 0.8), and also XLA_FFI_State_Get_Args. API 0.2 (jaxlib 0.9) lacks the last
// member. xla/ffi/api/c_api.h of these versions declares them.
struct StateArgumentsBefore03 {
  size_t struct_size;
  XLA_FFI_Extension_Base* extension_start;
  XLA_FFI_ExecutionContext* ctx;
  XLA_FFI_TypeId* type_id;
  void* state;
  void (*deleter)(void*);
};

bool has_stages(const XLA_FFI_Api& api) { return api.api_version.minor_version >= 3; }

}  // namespace

bool register_type(const XLA_FFI_Api& api, const char* name, void (*deleter)(void*), XLA_FFI_TypeId* type) {
  static XLA_FFI_TypeInfo info{XLA_FFI_TypeInfo_STRUCT_SIZE, nullptr, deleter};
  XLA_FFI_Type_Register_Args args{};
  args.struct_size = sizeof(args);
  args.name = {name, std::strlen(name)};
  args.type_id = type;
  args.type_info = &info;
  XLA_FFI_Error* error = api.XLA_FFI_Type_Register(&args);
  if (error != nullptr) destroy_error(api, error);
  return error == nullptr;
}

XLA_FFI_Error* set_state(const XLA_FFI_CallFrame& frame, XLA_FFI_TypeId* type, void* state, void (*deleter)(void*)) {
  if (has_stages(*frame.api)) {
    XLA_FFI_State_Set_Args args{XLA_FFI_State_Set_Args_STRUCT_SIZE, nullptr, frame.ctx,
                                XLA_FFI_ExecutionStage_INSTANTIATE, type,    state};
    return frame.api->XLA_FFI_State_Set(&args);
  }
  size_t size = frame.api->api_version.minor_version < 2 ? sizeof(StateArgumentsBefore03)
                                                         : offsetof(StateArgumentsBefore03, deleter);
  StateArgumentsBefore03 args{size, nullptr, frame.ctx, type, state, deleter};
  return frame.api->XLA_FFI_State_Set(reinterpret_cast<XLA_FFI_State_Set_Args*>(&args));
}

void* get_state(const XLA_FFI_CallFrame& frame, XLA_FFI_TypeId* type) {
  XLA_FFI_Error* error;
  void* state;
  if (has_stages(*frame.api)) {
    XLA_FFI_State_Get_Args args{XLA_FFI_State_Get_Args_STRUCT_SIZE, nullptr, frame.ctx,
                                XLA_FFI_ExecutionStage_INSTANTIATE, type,    nullptr};
    error = frame.api->XLA_FFI_State_Get(&args);
    state = args.state;
  } else {
    size_t size = offsetof(StateArgumentsBefore03, deleter);
    StateArgumentsBefore03 args{size, nullptr, frame.ctx, type, nullptr, nullptr};
    error = frame.api->XLA_FFI_State_Get(reinterpret_cast<XLA_FFI_State_Get_Args*>(&args));
    state = args.state;
  }
  if (__builtin_expect(error == nullptr, 1)) return state;
  destroy_error(*frame.api, error);
  return nullptr;
}

void destroy_error(const XLA_FFI_Api& api, XLA_FFI_Error* error) {
  XLA_FFI_Error_Destroy_Args args{XLA_FFI_Error_Destroy_Args_STRUCT_SIZE, nullptr, error};
  api.XLA_FFI_Error_Destroy(&args);
}

}  // namespace framedex::ffi
