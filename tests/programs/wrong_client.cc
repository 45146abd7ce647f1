// A client in C++ of the plug-in in `wrong_plugin.cc`: wrong_client LIBRARY ACTION. Prints what it sees.
#include <dlfcn.h>
#include <pthread.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>

#include "pjrt_c_api.h"

namespace {

const PJRT_Api* api;

template <typename Args>
Args made(size_t size) {
  Args args;
  std::memset(&args, 0x11, sizeof(args));  // arbitrary content of an uninitialised struct
  args.struct_size = size;
  args.extension_start = nullptr;
  return args;
}
#define MADE(name) made<name##_Args>(name##_Args_STRUCT_SIZE)

void use_memory() {
  auto args = MADE(PJRT_Device_AddressableMemories);
  api->PJRT_Device_AddressableMemories(&args);
  PJRT_Memory* memory = args.memories[0];
  const PJRT_Memory_FunctionTable* table = memory->vtable;
  int key = 0;
  int data = 0;
  memory->vtable->set_user_data(memory, &key, &data, nullptr);
  bool is_same = memory->vtable->get_user_data(memory, &key) == &data;
  api->PJRT_Device_AddressableMemories(&args);
  std::printf("same data %d, same table %d\n", is_same, table == memory->vtable);
}

void use_error() {
  auto args = MADE(PJRT_Device_MemoryStats);
  PJRT_Error* error = api->PJRT_Device_MemoryStats(&args);
  const char* text = nullptr;
  size_t size = 0;
  error->vtable->message(error, &text, &size);
  std::printf("%d %s, peak %llx\n", error->vtable->get_code(error), std::string(text, size).c_str(),
              static_cast<unsigned long long>(args.peak_bytes_in_use));
  error->vtable->destroy(error);
  // As older clients do.
  error = api->PJRT_Device_MemoryStats(&args);
  auto message = MADE(PJRT_Error_Message);
  message.error = error;
  api->PJRT_Error_Message(&message);
  auto destroy = MADE(PJRT_Error_Destroy);
  destroy.error = error;
  api->PJRT_Error_Destroy(&destroy);
}

void catch_exceptions() {
  try {
    auto args = MADE(PJRT_Client_Create);
    args.create_options = nullptr;
    args.num_options = 0;
    api->PJRT_Client_Create(&args);
  } catch (const std::exception& error) {
    std::printf("caught %s", error.what());
  }
  try {
    auto args = MADE(PJRT_Client_Destroy);
    api->PJRT_Client_Destroy(&args);
  } catch (int number) {
    std::printf(", %d\n", number);
  }
}

void catch_exception_of_memory() {
  auto args = MADE(PJRT_Device_AddressableMemories);
  api->PJRT_Device_AddressableMemories(&args);
  PJRT_Memory* memory = args.memories[0];
  try {
    memory->vtable->set_user_data(memory, nullptr, nullptr, nullptr);
  } catch (const std::exception& error) {
    std::printf("caught %s\n", error.what());
  }
}

void end_thread_in_plugin() {
  pthread_t thread;
  pthread_create(
      &thread, nullptr,
      [](void*) -> void* {
        auto args = MADE(PJRT_Client_ProcessIndex);
        api->PJRT_Client_ProcessIndex(&args);
        return nullptr;
      },
      nullptr);
  pthread_join(thread, nullptr);
  std::printf("the thread has ended\n");
}

void execute(PJRT_Buffer** outputs, size_t options_size) {
  PJRT_ExecuteOptions options{};
  options.struct_size = options_size;
  auto args = MADE(PJRT_LoadedExecutable_Execute);
  args.options = &options;
  args.num_devices = 1;
  args.num_args = 0;
  args.argument_lists = nullptr;
  args.output_lists = &outputs;
  args.device_complete_events = nullptr;
  api->PJRT_LoadedExecutable_Execute(&args);
}

void look_at_results() {
  auto put = MADE(PJRT_Client_BufferFromHostBuffer);
  put.num_dims = put.num_byte_strides = 0;
  put.device_layout = nullptr;
  api->PJRT_Client_BufferFromHostBuffer(&put);
  auto deleted = MADE(PJRT_Buffer_IsDeleted);
  api->PJRT_Buffer_IsDeleted(&deleted);
  unsigned char is_deleted;
  std::memcpy(&is_deleted, &deleted.is_deleted, 1);
  auto name = MADE(PJRT_Client_PlatformName);
  api->PJRT_Client_PlatformName(&name);
  PJRT_Buffer* outputs[] = {nullptr, reinterpret_cast<PJRT_Buffer*>(0x22)};
  execute(outputs, PJRT_ExecuteOptions_STRUCT_SIZE);
  auto read = MADE(PJRT_Buffer_ToHostBuffer);
  read.host_layout = nullptr;
  read.dst = nullptr;
  api->PJRT_Buffer_ToHostBuffer(&read);
  std::printf("buffer %p, deleted %x, name %zu, outputs %p %p, size %zu, event %p\n", static_cast<void*>(put.buffer),
              is_deleted, name.platform_name_size, static_cast<void*>(outputs[0]), static_cast<void*>(outputs[1]),
              read.dst_size, static_cast<void*>(read.event));
}

void pass_null_in_a_list() {
  PJRT_Buffer* none[] = {nullptr};
  PJRT_Buffer* const* arguments[] = {none};
  PJRT_Buffer* outputs[2];
  PJRT_Buffer** output_lists[] = {outputs};
  PJRT_ExecuteOptions options{};
  options.struct_size = PJRT_ExecuteOptions_STRUCT_SIZE;
  auto args = MADE(PJRT_LoadedExecutable_Execute);
  args.options = &options;
  args.num_devices = args.num_args = 1;
  args.argument_lists = arguments;
  args.output_lists = output_lists;
  args.device_complete_events = nullptr;
  api->PJRT_LoadedExecutable_Execute(&args);
}

void pass_sizes() {
  auto args = MADE(PJRT_Device_AddressableMemories);
  args.struct_size = 4096;
  api->PJRT_Device_AddressableMemories(&args);
  PJRT_Buffer* outputs[2];
  execute(outputs, offsetof(PJRT_ExecuteOptions, num_non_donatable_input_indices));
  std::printf("%zu\n", args.num_memories);
}

__attribute__((noinline)) void call_null() {
  if (api->PJRT_Client_Devices != nullptr) std::printf("not null\n");
  auto args = MADE(PJRT_Client_Devices);
  std::printf("about to call\n");
  std::fflush(stdout);
  api->PJRT_Client_Devices(&args);
}

// Calls a null function through a register, so that the call does not show its table.
__attribute__((noinline)) void call_null_pointer() {
  auto* function = api->PJRT_Buffer_GetMemoryLayout;
  asm volatile("" : "+r"(function));
  auto args = MADE(PJRT_Buffer_GetMemoryLayout);
  std::printf("about to call\n");
  std::fflush(stdout);
  function(&args);
}

const PJRT_Api* load(const char* path) {
  void* library = dlopen(path, RTLD_NOW);
  if (library == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    std::exit(1);
  }
  return reinterpret_cast<const PJRT_Api* (*)()>(dlsym(library, "GetPjrtApi"))();
}

}  // namespace

int main(int count, char** arguments) {
  api = load(arguments[1]);
  for (int i = 3; i < count; ++i) load(arguments[i]);
  std::string action = arguments[2];
  if (action == "memory") use_memory();
  if (action == "error") use_error();
  if (action == "exceptions") catch_exceptions();
  if (action == "memory_exception") catch_exception_of_memory();
  if (action == "thread_end") end_thread_in_plugin();
  if (action == "results") look_at_results();
  if (action == "null_in_a_list") pass_null_in_a_list();
  if (action == "sizes") pass_sizes();
  if (action == "null") call_null();
  if (action == "null_pointer") call_null_pointer();
}
