// A PJRT plug-in with deliberate errors in some functions. The other functions are correct.
//
// An error and a memory have function tables of their own, in read-only memory.
#include <pthread.h>

#include <cstring>
#include <stdexcept>

#include "pjrt_c_api.h"

namespace {

struct WrongError : PJRT_Error {};
struct WrongMemory : PJRT_Memory {
  const void* key = nullptr;
  void* data = nullptr;
};

constexpr char kMessage[] = "it went wrong";

const PJRT_Error_FunctionTable error_functions = {
    PJRT_Error_FunctionTable_STRUCT_SIZE,
    sizeof(WrongError),
    nullptr,
    [](PJRT_Error* error) { delete static_cast<WrongError*>(error); },
    [](const PJRT_Error*, const char** message, size_t* size) {
      *message = kMessage;
      *size = sizeof(kMessage) - 1;
    },
    [](const PJRT_Error*) { return PJRT_Error_Code_INTERNAL; },
    [](const PJRT_Error*, PJRT_Error_PayloadVisitor, void*) {},
};

const PJRT_Memory_FunctionTable memory_functions = {
    PJRT_Memory_FunctionTable_STRUCT_SIZE,
    nullptr,
    sizeof(WrongMemory),
    [](PJRT_Memory* memory, const void* key) -> void* {
      auto* own = static_cast<WrongMemory*>(memory);
      return own->key == key ? own->data : nullptr;
    },
    [](PJRT_Memory* memory, const void* key, void* data, void (*)(void*)) {
      auto* own = static_cast<WrongMemory*>(memory);
      if (key == nullptr) throw std::out_of_range("no key");
      own->key = key;
      own->data = data;
    },
};

WrongMemory memory;
PJRT_Memory* memories[] = {&memory};

PJRT_Error* failed() {
  auto* error = new WrongError;
  error->vtable = &error_functions;
  return error;
}

PJRT_Api make_table() {
  PJRT_Api api{};
  memory.vtable = &memory_functions;
  api.struct_size = PJRT_Api_STRUCT_SIZE;
  api.pjrt_api_version = {PJRT_Api_Version_STRUCT_SIZE, nullptr, PJRT_API_MAJOR, PJRT_API_MINOR};
  // The table's error functions call those in the error itself, as XLA's do.
  api.PJRT_Error_Destroy = [](PJRT_Error_Destroy_Args* args) { args->error->vtable->destroy(args->error); };
  api.PJRT_Error_Message = [](PJRT_Error_Message_Args* args) {
    args->error->vtable->message(args->error, &args->message, &args->message_size);
  };
  api.PJRT_Error_GetCode = [](PJRT_Error_GetCode_Args* args) -> PJRT_Error* {
    args->code = args->error->vtable->get_code(args->error);
    return nullptr;
  };
  api.PJRT_Device_AddressableMemories = [](PJRT_Device_AddressableMemories_Args* args) -> PJRT_Error* {
    args->memories = memories;
    args->num_memories = 1;
    return nullptr;
  };
  api.PJRT_Device_MemoryStats = [](PJRT_Device_MemoryStats_Args*) { return failed(); };
  api.PJRT_Client_Create = [](PJRT_Client_Create_Args*) -> PJRT_Error* { throw std::out_of_range("no chips"); };
  api.PJRT_Client_Destroy = [](PJRT_Client_Destroy_Args*) -> PJRT_Error* { throw 42; };
  api.PJRT_Client_ProcessIndex = [](PJRT_Client_ProcessIndex_Args*) -> PJRT_Error* { pthread_exit(nullptr); };
  // Succeed without results.
  api.PJRT_Client_BufferFromHostBuffer = [](PJRT_Client_BufferFromHostBuffer_Args*) -> PJRT_Error* { return nullptr; };
  api.PJRT_Buffer_IsDeleted = [](PJRT_Buffer_IsDeleted_Args*) -> PJRT_Error* { return nullptr; };
  api.PJRT_Client_PlatformName = [](PJRT_Client_PlatformName_Args* args) -> PJRT_Error* {
    args->platform_name_size = 5;
    return nullptr;
  };
  // Assigns the first of two results, or null to both if it has an argument. Assigns no event if only the size of the
  // host's memory is queried.
  api.PJRT_LoadedExecutable_Execute = [](PJRT_LoadedExecutable_Execute_Args* args) -> PJRT_Error* {
    args->output_lists[0][0] = args->num_args == 0 ? reinterpret_cast<PJRT_Buffer*>(0x1000) : nullptr;
    if (args->num_args != 0) args->output_lists[0][1] = nullptr;
    return nullptr;
  };
  api.PJRT_Buffer_ToHostBuffer = [](PJRT_Buffer_ToHostBuffer_Args* args) -> PJRT_Error* {
    if (args->dst == nullptr) args->dst_size = 4;
    return nullptr;
  };
  api.PJRT_LoadedExecutable_GetExecutable = [](PJRT_LoadedExecutable_GetExecutable_Args* args) -> PJRT_Error* {
    args->executable = reinterpret_cast<PJRT_Executable*>(args->loaded_executable);
    return nullptr;
  };
  api.PJRT_Executable_NumOutputs = [](PJRT_Executable_NumOutputs_Args* args) -> PJRT_Error* {
    args->num_outputs = 2;
    return nullptr;
  };
  api.PJRT_Executable_Destroy = [](PJRT_Executable_Destroy_Args*) -> PJRT_Error* { return nullptr; };
  return api;
}

}  // namespace

extern "C" const PJRT_Api* GetPjrtApi() {
  static const PJRT_Api table = make_table();
  return &table;
}
