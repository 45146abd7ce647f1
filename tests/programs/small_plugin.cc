// A PJRT plug-in with a few functions, used through framedex. The environment variable SMALL_PLUGIN selects its kind.
//
//   older: minor version 54; its table ends after PJRT_Executable_GetCompiledMemoryStats, and two entries are null
//   newer: three functions more than our description of the ABI
//   endless: its chain of extensions is a cycle
//   major, short, long, none: not a valid plug-in for this version
#include <cstdlib>
#include <cstring>
#include <string>

#include "pjrt_c_api.h"

struct SmallError : PJRT_Error {
  PJRT_Error_Code code;
  const char* message;
};

// An extension of an unknown type, with a member beyond its struct_size.
struct UnknownExtension {
  PJRT_Extension_Base base;
  int (*answer)();
  int hidden;
};

struct NewerLayouts {
  PJRT_Layouts_Extension known;
  int (*added)();
};

struct NewerTable {
  PJRT_Api known;
  int (*added[3])();
};

namespace {

bool is(const char* kind) {
  const char* wanted = std::getenv("SMALL_PLUGIN");
  return wanted != nullptr && std::strcmp(wanted, kind) == 0;
}

SmallError* failed(const char* message) {
  auto* error = new SmallError;
  error->vtable = nullptr;
  error->code = PJRT_Error_Code_NOT_FOUND;
  error->message = message;
  return error;
}

int forty_two() { return 42; }
int times_asked = 0;

PJRT_Error* serialize(PJRT_Layouts_MemoryLayout_Serialize_Args* args) {
  args->serialized_bytes = "{1,0}";
  args->serialized_bytes_size = 5;
  return nullptr;
}

PJRT_Error* output_layouts(PJRT_Layouts_PJRT_Executable_GetOutputLayouts_Args* args) {
  static PJRT_Layouts_MemoryLayout* layouts[] = {reinterpret_cast<PJRT_Layouts_MemoryLayout*>(0x510),
                                                 reinterpret_cast<PJRT_Layouts_MemoryLayout*>(0x520)};
  args->layouts = layouts;
  args->num_outputs = 2;
  return nullptr;
}

PLUGIN_Profiler_Error* create_profiler(PLUGIN_Profiler_Create_Args*) {
  return reinterpret_cast<PLUGIN_Profiler_Error*>(0x77);
}
void profiler_message(PLUGIN_Profiler_Error_Message_Args* args) {
  args->message = "no profiler here";
  args->message_size = 16;
}
PLUGIN_Profiler_Error* profiler_code(PLUGIN_Profiler_Error_GetCode_Args* args) {
  args->code = 5;
  return nullptr;
}

PJRT_Error* execute(PJRT_LoadedExecutable_Execute_Args* args) {
  for (size_t device = 0; device < args->num_devices; ++device) {
    for (size_t output = 0; output < 3; ++output) {
      args->output_lists[device][output] = reinterpret_cast<PJRT_Buffer*>(0x1000 * (device + 1) + output);
    }
    if (args->device_complete_events != nullptr) {
      args->device_complete_events[device] = reinterpret_cast<PJRT_Event*>(0xE00 + device);
    }
  }
  return nullptr;
}

PJRT_Extension_Base* extensions() {
  static PLUGIN_Profiler_Api profiler{};
  profiler.struct_size = PLUGIN_Profiler_Api_STRUCT_SIZE;
  profiler.create = create_profiler;
  profiler.error_message = profiler_message;
  profiler.error_get_code = profiler_code;
  static PJRT_Profiler_Extension profiling{
      {PJRT_Profiler_Extension_STRUCT_SIZE, PJRT_Extension_Type_Profiler, nullptr}, &profiler, 0};
  static UnknownExtension unknown{
      {sizeof(PJRT_Extension_Base) + 8, static_cast<PJRT_Extension_Type>(99), &profiling.base}, forty_two, 43};
  static NewerLayouts layouts{};
  layouts.known.base = {sizeof(layouts), PJRT_Extension_Type_Layouts, &unknown.base};
  layouts.known.PJRT_Layouts_MemoryLayout_Serialize = serialize;
  layouts.known.PJRT_Layouts_PJRT_Executable_GetOutputLayouts = output_layouts;
  layouts.added = forty_two;
  // Without the last of its three functions, and with an invalid pointer in its place.
  static PJRT_FFI_Extension ffi{};
  ffi.base = {offsetof(PJRT_FFI_Extension, register_handler), PJRT_Extension_Type_FFI, &layouts.known.base};
  ffi.user_data_add = [](PJRT_FFI_UserData_Add_Args*) -> PJRT_Error* { return failed("no user data"); };
  ffi.register_handler = reinterpret_cast<PJRT_FFI_Register_Handler*>(0xBAD);
  if (is("endless")) profiling.base.next = &ffi.base;
  return &ffi.base;
}

const PJRT_Api* make_table() {
  static NewerTable table{};
  PJRT_Api& api = table.known;
  api.struct_size = PJRT_Api_STRUCT_SIZE;
  api.extension_start = extensions();
  api.pjrt_api_version = {PJRT_Api_Version_STRUCT_SIZE, nullptr, PJRT_API_MAJOR, PJRT_API_MINOR};
  api.PJRT_Error_Destroy = [](PJRT_Error_Destroy_Args* args) { delete static_cast<SmallError*>(args->error); };
  api.PJRT_Error_Message = [](PJRT_Error_Message_Args* args) {
    args->message = static_cast<const SmallError*>(args->error)->message;
    args->message_size = std::strlen(args->message);
  };
  api.PJRT_Error_GetCode = [](PJRT_Error_GetCode_Args* args) -> PJRT_Error* {
    args->code = static_cast<const SmallError*>(args->error)->code;
    return nullptr;
  };
  api.PJRT_Plugin_Initialize = [](PJRT_Plugin_Initialize_Args*) -> PJRT_Error* { return nullptr; };
  api.PJRT_Error_ForEachPayload = [](PJRT_Error_ForEachPayload_Args*) -> PJRT_Error* { return nullptr; };
  api.PJRT_Client_PlatformName = [](PJRT_Client_PlatformName_Args* args) -> PJRT_Error* {
    args->platform_name = "small";
    args->platform_name_size = 5;
    return nullptr;
  };
  api.PJRT_Client_Create = [](PJRT_Client_Create_Args*) -> PJRT_Error* { return failed("there is no such device"); };
  api.PJRT_LoadedExecutable_GetExecutable = [](PJRT_LoadedExecutable_GetExecutable_Args* args) -> PJRT_Error* {
    args->executable = reinterpret_cast<PJRT_Executable*>(args->loaded_executable);
    return nullptr;
  };
  api.PJRT_Executable_NumOutputs = [](PJRT_Executable_NumOutputs_Args* args) -> PJRT_Error* {
    ++times_asked;
    args->num_outputs = 3;
    return nullptr;
  };
  api.PJRT_Executable_Destroy = [](PJRT_Executable_Destroy_Args*) -> PJRT_Error* { return nullptr; };
  api.PJRT_LoadedExecutable_Destroy = [](PJRT_LoadedExecutable_Destroy_Args*) -> PJRT_Error* { return nullptr; };
  api.PJRT_LoadedExecutable_Execute = execute;
  // An older plug-in sets only one of the outputs.
  api.PJRT_Executable_GetCompiledMemoryStats = [](PJRT_Executable_GetCompiledMemoryStats_Args* args) -> PJRT_Error* {
    args->generated_code_size_in_bytes = 7;
    if (!is("older")) args->total_size_in_bytes = 0x5A5A;
    return nullptr;
  };
  for (auto& added : table.added) added = forty_two;
  if (is("older")) {
    api.struct_size = offsetof(PJRT_Api, PJRT_Executable_GetCompiledMemoryStats) + sizeof(void*);
    api.pjrt_api_version.minor_version = 54;
    api.PJRT_Client_Create = nullptr;
    api.PJRT_Executable_NumOutputs = nullptr;
  }
  if (is("newer")) {
    api.struct_size = sizeof(table);
    api.pjrt_api_version.minor_version = PJRT_API_MINOR + 5;
  }
  if (is("major")) api.pjrt_api_version.major_version = PJRT_API_MAJOR + 1;
  if (is("short")) api.struct_size = 16;
  if (is("long")) api.struct_size = size_t{1} << 40;
  return &api;
}

}  // namespace

extern "C" const PJRT_Api* GetPjrtApi() {
  static const PJRT_Api* table = make_table();
  return is("none") ? nullptr : table;
}

// The number of queries for an executable's number of outputs.
extern "C" int small_plugin_times_asked() { return times_asked; }
