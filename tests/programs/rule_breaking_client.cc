// A client of the PJRT C API with one deliberate mistake: argv[1] is the name of the rule that it breaks.
//
// It loads the plug-in in TPU_LIBRARY_PATH. `second` makes the call that breaks the rule, and `first` the earlier call
// that makes it a mistake.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>

#include "pjrt_c_api.h"

namespace {

const PJRT_Api* api;
PJRT_Client* client;
PJRT_Device* device;

void destroy(PJRT_Error* error) {
  PJRT_Error_Destroy_Args args{};
  args.struct_size = PJRT_Error_Destroy_Args_STRUCT_SIZE;
  args.error = error;
  api->PJRT_Error_Destroy(&args);
}

// Calls a function of the table with a struct that `fill` completes, and returns the struct. Destroys an error.
template <typename Args, typename Fill>
Args call(PJRT_Error* (*function)(Args*), size_t size, Fill fill) {
  Args args{};
  args.struct_size = size;
  fill(args);
  if (PJRT_Error* error = function(&args); error != nullptr) destroy(error);
  return args;
}
#define CALL(name, ...)                                  \
  call(api->PJRT_##name, PJRT_##name##_Args_STRUCT_SIZE, \
       [&]([[maybe_unused]] PJRT_##name##_Args& args) { __VA_ARGS__; })

void destroy(PJRT_Event* event) { CALL(Event_Destroy, args.event = event); }
void destroy(PJRT_Buffer* buffer) { CALL(Buffer_Destroy, args.buffer = buffer); }
PJRT_Event* new_event() { return CALL(Event_Create).event; }
void set(PJRT_Event* event) { CALL(Event_Set, args.event = event); }

void create_client() {
  client = CALL(Client_Create).client;
  device = *CALL(Client_AddressableDevices, args.client = client).addressable_devices;
}
void destroy_client() { CALL(Client_Destroy, args.client = client); }

const float data[6] = {0, 1, 2, 3, 4, 5};
const int64_t dims[2] = {2, 3};

PJRT_Buffer* put(size_t added_size = 0) {
  auto put = CALL(Client_BufferFromHostBuffer, args.struct_size += added_size; args.client = client; args.data = data;
                  args.type = PJRT_Buffer_Type_F32; args.dims = dims; args.num_dims = 2; args.device = device);
  if (put.done_with_host_buffer != nullptr) destroy(put.done_with_host_buffer);
  return put.buffer;
}
bool is_on_cpu(PJRT_Buffer* buffer) { return CALL(Buffer_IsOnCpu, args.buffer = buffer).is_on_cpu; }

[[gnu::noinline]] void first(const std::function<void()>& step) {
  step();
  asm volatile("");  // no tail call: the frame stays on the stack
}
[[gnu::noinline]] void second(const std::function<void()>& step) {
  step();
  asm volatile("");
}

PJRT_Error* failing_lookup() {
  PJRT_Client_LookupDevice_Args args{};
  args.struct_size = PJRT_Client_LookupDevice_Args_STRUCT_SIZE;
  args.client = client;
  args.id = 999;
  return api->PJRT_Client_LookupDevice(&args);
}

void read_code(PJRT_Error* error) {
  PJRT_Error_GetCode_Args args{};
  args.struct_size = PJRT_Error_GetCode_Args_STRUCT_SIZE;
  args.error = error;
  api->PJRT_Error_GetCode(&args);
}

void query_a_buffer() {
  PJRT_Buffer* buffer = put();
  is_on_cpu(buffer);
  destroy(buffer);
}

const std::map<std::string, void (*)()> mistakes = {
    {"none",
     [] {
       PJRT_Event* event = new_event();
       set(event);
       destroy(event);
       PJRT_Buffer* buffer = put();
       is_on_cpu(buffer);
       CALL(Buffer_IncreaseExternalReferenceCount, args.buffer = buffer);
       CALL(Buffer_OpaqueDeviceMemoryDataPointer, args.buffer = buffer);
       CALL(Buffer_DecreaseExternalReferenceCount, args.buffer = buffer);
       CALL(Buffer_ToHostBuffer, args.src = buffer);  // queries the size
       destroy(buffer);
       destroy(static_cast<PJRT_Buffer*>(nullptr));
       destroy(failing_lookup());
       destroy_client();
     }},
    {"use-after-destroy",
     [] {
       PJRT_Buffer* buffer = put();
       first([&] { destroy(buffer); });
       second([&] { is_on_cpu(buffer); });
     }},
    {"use-after-destroy in loops",
     [] {
       PJRT_Buffer* buffer = put();
       destroy(buffer);
       for (int i = 0; i < 3; ++i) is_on_cpu(buffer);
       for (int i = 0; i < 3; ++i) is_on_cpu(buffer);
     }},
    {"use-after-destroy, unseen",
     [] {
       PJRT_Buffer* buffer = put();
       PJRT_Buffer* other = put();
       destroy(buffer);
       CALL(Buffer_IsDeleted, args.buffer = other);
       CALL(Buffer_Delete, args.buffer = other);
       is_on_cpu(buffer);
     }},
    {"double-destroy",
     [] {
       PJRT_Buffer* buffer = put();
       first([&] { destroy(buffer); });
       second([&] { destroy(buffer); });
     }},
    {"use-after-destroy of an error",
     [] {
       PJRT_Error* error = failing_lookup();
       first([&] { destroy(error); });
       second([&] { read_code(error); });
     }},
    {"double-destroy of an error",
     [] {
       PJRT_Error* error = failing_lookup();
       first([&] { destroy(error); });
       second([&] { destroy(error); });
     }},
    {"use-after-destroy of a client",
     [] {
       first(destroy_client);
       second([] { CALL(Client_PlatformName, args.client = client); });
     }},
    {"double-destroy of a client",
     [] {
       first(destroy_client);
       second(destroy_client);
     }},
    {"null arguments", [] { api->PJRT_Plugin_Initialize(nullptr); }},
    {"use-after-delete",
     [] {
       PJRT_Buffer* buffer = put();
       first([&] { CALL(Buffer_Delete, args.buffer = buffer); });
       second([&] { CALL(Buffer_CopyToDevice, args.buffer = buffer; args.dst_device = device); });
       destroy(buffer);
     }},
    {"use-after-client",
     [] {
       PJRT_Buffer* buffer = put();
       first(destroy_client);
       second([&] { is_on_cpu(buffer); });
     }},
    {"leak",
     [] {
       second([] { put(); });
       first(destroy_client);
     }},
    {"foreign-destroy",
     [] {
       PJRT_TopologyDescription* topology = nullptr;
       first([&] { topology = CALL(Client_TopologyDescription, args.client = client).topology; });
       second([&] { CALL(TopologyDescription_Destroy, args.topology = topology); });
     }},
    {"unknown-destroy", [] { second([] { destroy(static_cast<PJRT_Event*>(std::calloc(1, 64))); }); }},
    {"unknown-handle", [] { second([] { is_on_cpu(static_cast<PJRT_Buffer*>(std::calloc(1, 4096))); }); }},
    {"null-handle", [] { second([] { CALL(Client_PlatformName); }); }},
    {"pointer-without-reference",
     [] {
       PJRT_Buffer* buffer = put();
       second([&] { CALL(Buffer_OpaqueDeviceMemoryDataPointer, args.buffer = buffer); });
       destroy(buffer);
     }},
    {"undestroyed-error",
     [] {
       second([] { failing_lookup(); });
       destroy(put());
     }},
    {"event-set-twice",
     [] {
       PJRT_Event* event = new_event();
       first([&] { set(event); });
       second([&] { set(event); });
       destroy(event);
     }},
    {"event-never-set",
     [] {
       PJRT_Event* event = new_event();
       first([&] { CALL(Event_OnReady, args.event = event; args.callback = [](PJRT_Error*, void*) {}); });
       second([&] { destroy(event); });
     }},
    {"error-before-ready",
     [] {
       PJRT_Event* event = nullptr;
       first([&] { event = new_event(); });
       second([&] { CALL(Event_Error, args.event = event); });
       set(event);
       destroy(event);
     }},
    {"struct-too-small",
     [] { second([] { CALL(Client_PlatformName, args.client = client; args.struct_size = 16); }); }},
    {"struct-too-large", [] { second([] { destroy(put(4096)); }); }},
    {"against ok-without-result",
     [] {
       if (PJRT_Buffer* buffer = put(); buffer != nullptr) destroy(buffer);
     }},
    {"uses a missing result", [] { is_on_cpu(put()); }},
    {"queries",
     [] {
       PJRT_Buffer* buffer = put();
       CALL(Client_Devices, args.client = client);
       CALL(Client_PlatformName, args.client = client);
       CALL(Device_GetAttributes, args.device = device);
       CALL(Buffer_Device, args.buffer = buffer);
       destroy(buffer);
     }},
    {"against missing-function", query_a_buffer},
    {"against function-beyond-table", query_a_buffer},
    {"against larger-struct-refused", [] { CALL(Client_PlatformName, args.struct_size += 8; args.client = client); }},
};

}  // namespace

int main(int argc, char** argv) {
  std::string wanted = argc > 1 ? argv[1] : "";
  void* library = dlopen(std::getenv("TPU_LIBRARY_PATH"), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return std::puts(dlerror()), 1;
  api = reinterpret_cast<const PJRT_Api* (*)()>(dlsym(library, "GetPjrtApi"))();
  if (wanted != "not-initialized" && api->PJRT_Plugin_Initialize != nullptr) CALL(Plugin_Initialize);
  second(create_client);
  if (auto found = mistakes.find(wanted); found != mistakes.end()) found->second();
  std::puts("done");
  std::fflush(nullptr);
  std::_Exit(0);
}
