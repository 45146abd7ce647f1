// Shared by the guidebook's C clients, which load a plug-in and call its functions directly.
//
//   CALL(PJRT_Client_Devices, found, .client = client);   calls the function with these arguments; `found` has the results
//   if (!found_ok) ...                                     whether the plug-in has the function, and the call succeeded
//
// A missing or failing function is reported, and the client continues, because plug-ins differ.
#pragma once
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pjrt_c_api.h"

static const PJRT_Api* api;

#define CALL_AT(table, size, member, function, name, ...)                                    \
  function##_Args name = {.struct_size = function##_Args_STRUCT_SIZE, __VA_ARGS__};          \
  bool name##_ok = (table) != NULL && offsetof_ends(&(table)->member, table, size) && (table)->member != NULL && \
                   succeeded(#function, (table)->member(&name));                             \
  (void)name##_ok

// A function of the table.
#define CALL(function, name, ...) CALL_AT(api, api->struct_size, function, function, name, __VA_ARGS__)

// A function of an extension, which is NULL where the plug-in has none.
#define ASK(extension, member, function, name, ...) \
  CALL_AT(extension, (extension)->base.struct_size, member, function, name, __VA_ARGS__)

// Whether the table is large enough to have this entry: that of an older plug-in is shorter.
static inline bool offsetof_ends(const void* entry, const void* table, size_t size) {
  return (size_t)((const char*)entry - (const char*)table) + sizeof(void*) <= size;
}

static void visit_payload(const char* key, size_t key_size, const char* value, size_t value_size, void* user) {
  (void)value, (void)value_size, (void)user;
  printf("    with %.*s\n", (int)key_size, key);
}

// Tells an error and destroys it, as each client has to.
static bool succeeded(const char* function, PJRT_Error* error) {
  if (error == NULL) return true;
  PJRT_Error_GetCode_Args code = {.struct_size = PJRT_Error_GetCode_Args_STRUCT_SIZE, .error = error};
  PJRT_Error_Message_Args text = {.struct_size = PJRT_Error_Message_Args_STRUCT_SIZE, .error = error};
  PJRT_Error_ForEachPayload_Args payloads = {
      .struct_size = PJRT_Error_ForEachPayload_Args_STRUCT_SIZE, .error = error, .visitor = visit_payload};
  PJRT_Error_Destroy_Args destroyed = {.struct_size = PJRT_Error_Destroy_Args_STRUCT_SIZE, .error = error};
  api->PJRT_Error_GetCode(&code);
  api->PJRT_Error_Message(&text);
  printf("  %s: %d %.*s\n", function, code.code, (int)(text.message_size < 100 ? text.message_size : 100), text.message);
  if (offsetof_ends(&api->PJRT_Error_ForEachPayload, api, api->struct_size) && api->PJRT_Error_ForEachPayload)
    api->PJRT_Error_ForEachPayload(&payloads);
  api->PJRT_Error_Destroy(&destroyed);
  return false;
}

// Loads the plug-in that the command line names.
static inline void load(int argc, char** argv) {
  setvbuf(stdout, NULL, _IOLBF, 0);  // what was said before a crash counts
  void* library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  const PJRT_Api* (*get)(void) = library ? (const PJRT_Api* (*)(void))dlsym(library, "GetPjrtApi") : NULL;
  api = get ? get() : NULL;
  if (api == NULL) {
    fprintf(stderr, "usage: %s PLUGIN.so: %s\n", argv[0], argc > 1 ? dlerror() : "which plug-in?");
    exit(2);
  }
  printf("API %d.%d\n", api->pjrt_api_version.major_version, api->pjrt_api_version.minor_version);
  CALL(PJRT_Plugin_Initialize, initialized);
}

// The extension of a type, NULL where the plug-in has none.
static inline const void* extension(PJRT_Extension_Type type) {
  for (const PJRT_Extension_Base* each = api->extension_start; each != NULL; each = each->next)
    if (each->type == type) return each;
  return NULL;
}

// Waits for an event and destroys it.
static inline void wait_for(PJRT_Event* event) {
  if (event == NULL) return;
  CALL(PJRT_Event_Await, waited, .event = event);
  CALL(PJRT_Event_Destroy, destroyed, .event = event);
}

static inline PJRT_NamedValue named_text(const char* name, const char* value) {
  PJRT_NamedValue made = {.struct_size = PJRT_NamedValue_STRUCT_SIZE, .name = name, .name_size = strlen(name)};
  made.type = PJRT_NamedValue_kString;
  made.string_value = value;
  made.value_size = strlen(value);
  return made;
}

// Adds its two arguments, as StableHLO's text.
static char ADD[] =
    "module @add {\n"
    "  func.func public @main(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> tensor<2x3xf32> {\n"
    "    %sum = stablehlo.add %x, %y : tensor<2x3xf32>\n"
    "    return %sum : tensor<2x3xf32>\n"
    "  }\n"
    "}\n";

// CompileOptionsProto { executable_build_options { num_replicas: 1 num_partitions: 1 } }
static const char ONE_DEVICE[] = {0x1a, 0x04, 0x20, 0x01, 0x28, 0x01};

static inline PJRT_Program program(void) {
  PJRT_Program made = {.struct_size = PJRT_Program_STRUCT_SIZE, .code = ADD, .code_size = sizeof ADD - 1};
  made.format = "mlir";
  made.format_size = 4;
  return made;
}
