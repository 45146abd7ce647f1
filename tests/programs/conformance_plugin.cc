// A PJRT plug-in with a few functions. The variable WRONG selects the rule of the C API that it breaks.
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

#include "pjrt_c_api.h"

struct PJRT_Client {};

namespace {

constexpr size_t kFunctions = (sizeof(PJRT_Api) - offsetof(PJRT_Api, PJRT_Error_Destroy)) / sizeof(void*);

struct Unimplemented : PJRT_Error {};

const std::string wrong = getenv("WRONG") != nullptr ? getenv("WRONG") : "";

PJRT_Error* unimplemented(void*) { return new Unimplemented; }

void crash_on_purpose() {
  volatile int* nowhere = nullptr;
  *nowhere = 1;
}

void hang_on_purpose() {
  for (;;) pause();
}

PJRT_Error* create(PJRT_Client_Create_Args* arguments) {
  static PJRT_Client client;
  if (wrong == "throw") throw std::runtime_error("thrown on purpose");
  arguments->client = &client;
  return nullptr;
}

PJRT_Error* platform_name(PJRT_Client_PlatformName_Args* arguments) {
  if (wrong == "crash") crash_on_purpose();
  if (wrong == "hang") hang_on_purpose();
  if (wrong == "unfilled") return nullptr;
  if (wrong == "exit") _exit(3);
  arguments->platform_name = wrong == "text" ? "\xff\xfe" : "ok";
  arguments->platform_name_size = 2;
  if (wrong == "behind") reinterpret_cast<char*>(arguments)[arguments->struct_size] = 1;
  return nullptr;
}

PJRT_Api make_table() {
  PJRT_Api api{};
  void* functions[kFunctions];
  for (void*& function : functions) function = reinterpret_cast<void*>(unimplemented);
  std::memcpy(reinterpret_cast<char*>(&api) + offsetof(PJRT_Api, PJRT_Error_Destroy), functions, sizeof(functions));
  api.struct_size = PJRT_Api_STRUCT_SIZE;
  api.pjrt_api_version = {PJRT_Api_Version_STRUCT_SIZE, nullptr, PJRT_API_MAJOR, PJRT_API_MINOR};
  api.PJRT_Error_Destroy = [](PJRT_Error_Destroy_Args* args) { delete static_cast<Unimplemented*>(args->error); };
  api.PJRT_Error_Message = [](PJRT_Error_Message_Args* args) {
    args->message = "not implemented";
    args->message_size = std::strlen(args->message);
  };
  api.PJRT_Error_GetCode = [](PJRT_Error_GetCode_Args* args) -> PJRT_Error* {
    args->code = PJRT_Error_Code_UNIMPLEMENTED;
    return nullptr;
  };
  api.PJRT_Plugin_Initialize = [](PJRT_Plugin_Initialize_Args*) -> PJRT_Error* { return nullptr; };
  api.PJRT_Client_Create = create;
  api.PJRT_Client_Destroy = [](PJRT_Client_Destroy_Args*) -> PJRT_Error* { return nullptr; };
  api.PJRT_Client_PlatformName = platform_name;
  api.PJRT_Client_ProcessIndex = [](PJRT_Client_ProcessIndex_Args* args) -> PJRT_Error* {
    args->process_index = wrong == "result" ? 7 : 0;
    return nullptr;
  };
  if (wrong == "null") api.PJRT_Client_PlatformVersion = nullptr;
  return api;
}

}  // namespace

extern "C" const PJRT_Api* GetPjrtApi() {
  static PJRT_Api api = make_table();
  return wrong == "table" ? nullptr : &api;
}
