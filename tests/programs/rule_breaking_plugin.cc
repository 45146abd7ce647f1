// A PJRT plug-in with one deliberate mistake: BROKEN_RULE is the name of the broken rule. REAL_PLUGIN is
// the library that does the work: framedex's mock.
#include <dlfcn.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "pjrt_c_api.h"

namespace {

const PJRT_Api* real;

PJRT_Error* throwing(PJRT_Client_Create_Args*) { throw std::runtime_error("no chips"); }

PJRT_Error* filling_nothing(PJRT_Client_BufferFromHostBuffer_Args*) { return nullptr; }

PJRT_Error* listing_null(PJRT_Client_Devices_Args* args) {
  args->devices = nullptr;
  args->num_devices = 3;
  return nullptr;
}

PJRT_Error* naming_null(PJRT_Client_PlatformName_Args* args) {
  args->platform_name = nullptr;
  args->platform_name_size = 7;
  return nullptr;
}

PJRT_Error* finding_null(PJRT_Buffer_Device_Args* args) {
  args->device = nullptr;
  return nullptr;
}

// Succeeds with an attribute whose name is null.
PJRT_Error* without_names(PJRT_Device_GetAttributes_Args* args) {
  static PJRT_NamedValue attribute;
  PJRT_Error* error = real->PJRT_Device_GetAttributes(args);
  attribute = args->attributes[0];
  attribute.name = nullptr;
  args->attributes = &attribute;
  args->num_attributes = 1;
  return error;
}

// Returns an error of the real plug-in with this message.
PJRT_Error* make_error(const char* message) {
  PJRT_Event_Create_Args created{};
  created.struct_size = PJRT_Event_Create_Args_STRUCT_SIZE;
  real->PJRT_Event_Create(&created);
  PJRT_Event_Set_Args set{};
  set.struct_size = PJRT_Event_Set_Args_STRUCT_SIZE;
  set.event = created.event;
  set.error_code = PJRT_Error_Code_INVALID_ARGUMENT;
  set.error_message = message;
  set.error_message_size = std::strlen(message);
  real->PJRT_Event_Set(&set);
  PJRT_Event_Error_Args failed{};
  failed.struct_size = PJRT_Event_Error_Args_STRUCT_SIZE;
  failed.event = created.event;
  return real->PJRT_Event_Error(&failed);
}

// Like a plug-in that compares sizes for equality.
PJRT_Error* comparing_sizes(PJRT_Client_PlatformName_Args* args) {
  if (args->struct_size == PJRT_Client_PlatformName_Args_STRUCT_SIZE) return real->PJRT_Client_PlatformName(args);
  return make_error("Unexpected PJRT_Client_PlatformName_Args size: expected 40, got 48. Check versions.");
}

PJRT_Error* refusing(PJRT_Buffer_CopyToDevice_Args*) {
  return make_error("CopyToDevice() called on deleted or donated buffer");
}

bool breaks(const char* rule) {
  const char* wanted = std::getenv("BROKEN_RULE");
  return wanted != nullptr && std::strcmp(wanted, rule) == 0;
}

const PJRT_Api* make_table() {
  static PJRT_Api table;
  void* library = dlopen(std::getenv("REAL_PLUGIN"), RTLD_NOW | RTLD_LOCAL);
  real = reinterpret_cast<const PJRT_Api* (*)()>(dlsym(library, "framedex_mock_pjrt_api"))();
  std::memcpy(&table, real, sizeof table);
  if (breaks("exception")) table.PJRT_Client_Create = throwing;
  if (breaks("ok-without-result")) table.PJRT_Client_BufferFromHostBuffer = filling_nothing;
  if (breaks("null list")) table.PJRT_Client_Devices = listing_null;
  if (breaks("null text")) table.PJRT_Client_PlatformName = naming_null;
  if (breaks("null object")) table.PJRT_Buffer_Device = finding_null;
  if (breaks("null name")) table.PJRT_Device_GetAttributes = without_names;
  if (breaks("null-function") || breaks("missing-function")) table.PJRT_Buffer_IsOnCpu = nullptr;
  if (breaks("function-beyond-table")) table.struct_size = offsetof(PJRT_Api, PJRT_Buffer_IsOnCpu);
  if (breaks("no initialisation")) table.PJRT_Plugin_Initialize = nullptr;
  if (breaks("nothing")) {  // like a plug-in that never frees its objects
    table.PJRT_Error_Destroy = [](PJRT_Error_Destroy_Args*) {};
    table.PJRT_Client_Destroy = [](PJRT_Client_Destroy_Args*) -> PJRT_Error* { return nullptr; };
    table.PJRT_Plugin_Initialize = [](PJRT_Plugin_Initialize_Args*) -> PJRT_Error* { return nullptr; };
  }
  if (breaks("throwing message")) {
    table.PJRT_Error_Message = [](PJRT_Error_Message_Args*) { throw std::runtime_error("no message"); };
  }
  if (breaks("refused buffer")) table.PJRT_Buffer_CopyToDevice = refusing;
  if (breaks("larger-struct-refused")) table.PJRT_Client_PlatformName = comparing_sizes;
  return &table;
}

}  // namespace

extern "C" const PJRT_Api* GetPjrtApi() {
  static const PJRT_Api* table = make_table();
  return table;
}
