#include "replay/plugin.h"

#include <dlfcn.h>

#include <cstdlib>
#include <optional>

namespace framedex::replay {
namespace {

template <typename Arguments>
Arguments zeroed(size_t size) {
  Arguments arguments{};
  arguments.struct_size = size;
  return arguments;
}

// A zeroed argument struct of a function.
#define FRAMEDEX_ARGUMENTS(name) zeroed<name##_Args>(name##_Args_STRUCT_SIZE)
// Calls a function of the plug-in's table by its name.
#define FRAMEDEX_CALL(name, arguments) call(&PJRT_Api::name, #name, arguments)

constexpr std::string_view kCpuPlatform = "Host";  // XLA's name

// Returns an option that points into `option`.
PJRT_NamedValue named_value(const CreateOption& option) {
  auto value = zeroed<PJRT_NamedValue>(PJRT_NamedValue_STRUCT_SIZE);
  value.name = option.name.data();
  value.name_size = option.name.size();
  value.value_size = 1;
  if (option.kind == "string") {
    value.type = PJRT_NamedValue_kString;
    value.string_value = option.value.data();
    value.value_size = option.value.size();
  } else if (option.kind == "bool") {
    value.type = PJRT_NamedValue_kBool;
    value.bool_value = option.value == "true";
  } else if (option.kind == "int64") {
    value.type = PJRT_NamedValue_kInt64;
    value.int64_value = std::stoll(option.value);
  } else if (option.kind == "float") {
    value.type = PJRT_NamedValue_kFloat;
    value.float_value = std::strtof(option.value.c_str(), nullptr);  // std::stof throws for subnormal values
  } else {
    throw std::runtime_error(option.kind + " is not the kind of an option");
  }
  return value;
}

const PJRT_Api* load(const std::string& path) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw std::runtime_error(dlerror());
  auto get_table = reinterpret_cast<const PJRT_Api* (*)()>(dlsym(library, "GetPjrtApi"));
  const PJRT_Api* api = get_table == nullptr ? nullptr : get_table();
  if (api == nullptr) throw std::runtime_error(path + " is not a PJRT plug-in: it has no table of functions.");
  if (api->pjrt_api_version.major_version != PJRT_API_MAJOR) {
    throw std::runtime_error(path + " has another major version of the PJRT C API.");
  }
  return api;
}

}  // namespace

template <typename Function>
Function Plugin::find(Function PJRT_Api::* function, const char* name) const {
  auto end = reinterpret_cast<const char*>(&(api_->*function)) + sizeof(Function) - reinterpret_cast<const char*>(api_);
  if (static_cast<size_t>(end) > api_->struct_size || api_->*function == nullptr) {
    throw PluginError(PJRT_Error_Code_UNIMPLEMENTED, std::string("the plug-in lacks ") + name);
  }
  return api_->*function;
}

template <typename Function, typename Arguments>
void Plugin::call(Function PJRT_Api::* function, const char* name, Arguments& arguments) const {
  check(find(function, name)(&arguments));
}

void Plugin::check(PJRT_Error* error) const {
  if (error == nullptr) return;
  auto code = FRAMEDEX_ARGUMENTS(PJRT_Error_GetCode);
  code.error = error;
  api_->PJRT_Error_GetCode(&code);
  auto message = FRAMEDEX_ARGUMENTS(PJRT_Error_Message);
  message.error = error;
  api_->PJRT_Error_Message(&message);
  PluginError found(code.code, std::string(message.message, message.message_size));
  auto destroy = FRAMEDEX_ARGUMENTS(PJRT_Error_Destroy);
  destroy.error = error;
  api_->PJRT_Error_Destroy(&destroy);
  throw found;
}

Plugin::Plugin(const std::string& path) : api_(load(path)) {
  auto initialize = FRAMEDEX_ARGUMENTS(PJRT_Plugin_Initialize);
  FRAMEDEX_CALL(PJRT_Plugin_Initialize, initialize);
}

void Plugin::register_handlers(const std::map<std::string, XLA_FFI_Handler*>& handlers) const {
  PJRT_Extension_Base* extension = api_->extension_start;
  while (extension != nullptr && extension->type != PJRT_Extension_Type_FFI) extension = extension->next;
  auto* ffi = reinterpret_cast<PJRT_FFI_Extension*>(extension);
  if (ffi == nullptr || ffi->base.struct_size < PJRT_FFI_Extension_STRUCT_SIZE || ffi->register_handler == nullptr) {
    return;
  }
  for (const auto& [target, handler] : handlers) {
    auto add = FRAMEDEX_ARGUMENTS(PJRT_FFI_Register_Handler);
    add.target_name = target.data();
    add.target_name_size = target.size();
    add.handler = reinterpret_cast<void*>(handler);
    add.platform_name = kCpuPlatform.data();
    add.platform_name_size = kCpuPlatform.size();
    try {
      check(ffi->register_handler(&add));
    } catch (const PluginError&) {  // the plug-in has its own handler, or accepts none
    }
  }
}

void Plugin::create_client(const std::vector<CreateOption>& options) {
  std::vector<PJRT_NamedValue> values;
  for (const CreateOption& each : options) values.push_back(named_value(each));
  auto create = FRAMEDEX_ARGUMENTS(PJRT_Client_Create);
  create.create_options = values.data();
  create.num_options = values.size();
  FRAMEDEX_CALL(PJRT_Client_Create, create);
  client_ = create.client;
  auto devices = FRAMEDEX_ARGUMENTS(PJRT_Client_AddressableDevices);
  devices.client = client_;
  FRAMEDEX_CALL(PJRT_Client_AddressableDevices, devices);
  devices_.assign(devices.addressable_devices, devices.addressable_devices + devices.num_addressable_devices);
}

std::string Plugin::platform() const {
  auto name = FRAMEDEX_ARGUMENTS(PJRT_Client_PlatformName);
  name.client = client_;
  FRAMEDEX_CALL(PJRT_Client_PlatformName, name);
  return {name.platform_name, name.platform_name_size};
}

void Plugin::wait(PJRT_Event* event) const {
  if (event == nullptr) return;
  auto await = FRAMEDEX_ARGUMENTS(PJRT_Event_Await);
  await.event = event;
  PJRT_Error* error = find(&PJRT_Api::PJRT_Event_Await, "PJRT_Event_Await")(&await);
  auto destroy = FRAMEDEX_ARGUMENTS(PJRT_Event_Destroy);
  destroy.event = event;
  FRAMEDEX_CALL(PJRT_Event_Destroy, destroy);
  check(error);
}

PJRT_Device* Plugin::device(int64_t index) const {
  if (index >= 0 && static_cast<size_t>(index) < devices_.size()) return devices_[static_cast<size_t>(index)];
  throw PluginError(PJRT_Error_Code_OUT_OF_RANGE,
                    "there is no device " + std::to_string(index) + " here, only " + std::to_string(devices_.size()));
}

PJRT_Memory* Plugin::memory(int64_t index, const std::string& kind) const {
  if (kind == kUnknown) return nullptr;
  auto memories = FRAMEDEX_ARGUMENTS(PJRT_Device_AddressableMemories);
  memories.device = device(index);
  FRAMEDEX_CALL(PJRT_Device_AddressableMemories, memories);
  for (size_t i = 0; i < memories.num_memories; ++i) {
    auto found = FRAMEDEX_ARGUMENTS(PJRT_Memory_Kind);
    found.memory = memories.memories[i];
    FRAMEDEX_CALL(PJRT_Memory_Kind, found);
    if (std::string_view(found.kind, found.kind_size) == kind) return memories.memories[i];
  }
  throw PluginError(PJRT_Error_Code_INVALID_ARGUMENT, "there is no memory of the kind " + kind + " here");
}

PJRT_LoadedExecutable* Plugin::compile(std::string program, const std::string& format, const std::string& options) {
  auto source = zeroed<PJRT_Program>(PJRT_Program_STRUCT_SIZE);
  source.code = program.data();
  source.code_size = program.size();
  source.format = format.data();
  source.format_size = format.size();
  auto compile = FRAMEDEX_ARGUMENTS(PJRT_Client_Compile);
  compile.client = client_;
  compile.program = &source;
  compile.compile_options = options.data();
  compile.compile_options_size = options.size();
  FRAMEDEX_CALL(PJRT_Client_Compile, compile);
  return compile.executable;
}

PJRT_Buffer* Plugin::send(const Operation& operation, const std::string& bytes) {
  auto send = FRAMEDEX_ARGUMENTS(PJRT_Client_BufferFromHostBuffer);
  send.client = client_;
  send.data = bytes.data();
  send.type = operation.type;
  send.dims = operation.dimensions.data();
  send.num_dims = operation.dimensions.size();
  send.host_buffer_semantics = PJRT_HostBufferSemantics_kImmutableUntilTransferCompletes;
  send.memory = memory(operation.device, operation.memory);
  send.device = send.memory == nullptr ? device(operation.device) : nullptr;
  FRAMEDEX_CALL(PJRT_Client_BufferFromHostBuffer, send);
  wait(send.done_with_host_buffer);
  return send.buffer;
}

PJRT_Buffer* Plugin::copy(PJRT_Buffer* source, int64_t index, const std::string& kind) {
  if (PJRT_Memory* target = memory(index, kind)) {
    auto copy = FRAMEDEX_ARGUMENTS(PJRT_Buffer_CopyToMemory);
    copy.buffer = source;
    copy.dst_memory = target;
    FRAMEDEX_CALL(PJRT_Buffer_CopyToMemory, copy);
    return copy.dst_buffer;
  }
  auto copy = FRAMEDEX_ARGUMENTS(PJRT_Buffer_CopyToDevice);
  copy.buffer = source;
  copy.dst_device = device(index);
  FRAMEDEX_CALL(PJRT_Buffer_CopyToDevice, copy);
  return copy.dst_buffer;
}

size_t Plugin::outputs_of(PJRT_LoadedExecutable* executable) const {
  auto inner = FRAMEDEX_ARGUMENTS(PJRT_LoadedExecutable_GetExecutable);
  inner.loaded_executable = executable;
  FRAMEDEX_CALL(PJRT_LoadedExecutable_GetExecutable, inner);
  auto outputs = FRAMEDEX_ARGUMENTS(PJRT_Executable_NumOutputs);
  outputs.executable = inner.executable;
  FRAMEDEX_CALL(PJRT_Executable_NumOutputs, outputs);
  auto destroy = FRAMEDEX_ARGUMENTS(PJRT_Executable_Destroy);
  destroy.executable = inner.executable;
  FRAMEDEX_CALL(PJRT_Executable_Destroy, destroy);
  return outputs.num_outputs;
}

void Plugin::execute(PJRT_LoadedExecutable* executable, const Operation& operation,
                     const std::vector<std::string>& answers, Execution& execution) {
  size_t outputs = outputs_of(executable);
  if (outputs != operation.outputs) {
    throw PluginError(PJRT_Error_Code_INVALID_ARGUMENT, "the program has " + std::to_string(outputs) +
                                                            " results, but was recorded with " +
                                                            std::to_string(operation.outputs));
  }
  auto options = zeroed<PJRT_ExecuteOptions>(PJRT_ExecuteOptions_STRUCT_SIZE);
  options.launch_id = static_cast<int>(operation.launch);
  options.non_donatable_input_indices = operation.non_donatable.data();
  options.num_non_donatable_input_indices = operation.non_donatable.size();
  RecordedCallbacks* callbacks = nullptr;
  if (!operation.send_channels.empty() || !operation.receive_channels.empty()) {
    callbacks = &callbacks_.emplace_back(*api_, operation, answers);
    callbacks->attach(options);
  }
  std::vector<PJRT_Buffer* const*> arguments;
  std::vector<PJRT_Buffer**> results;
  for (size_t i = 0; i < operation.devices; ++i) {
    execution.outputs.emplace_back(outputs, nullptr);
    arguments.push_back(execution.arguments[i].data());
    results.push_back(execution.outputs[i].data());
  }
  std::vector<PJRT_Event*> ended(operation.devices, nullptr);
  auto execute = FRAMEDEX_ARGUMENTS(PJRT_LoadedExecutable_Execute);
  execute.executable = executable;
  execute.options = &options;
  execute.argument_lists = arguments.data();
  execute.num_devices = operation.devices;
  execute.num_args = operation.arguments;
  execute.output_lists = results.data();
  execute.device_complete_events = ended.data();
  execute.execute_device = operation.device < 0 ? nullptr : device(operation.device);
  FRAMEDEX_CALL(PJRT_LoadedExecutable_Execute, execute);
  std::optional<PluginError> failure;
  for (PJRT_Event* event : ended) {
    try {
      wait(event);
    } catch (const PluginError& error) {
      if (!failure) failure = error;
    }
  }
  if (failure) throw *failure;
  if (callbacks != nullptr && callbacks->has_missed()) {
    throw PluginError(PJRT_Error_Code_FAILED_PRECONDITION,
                      "the program requested a callback's answer that was not recorded, or one of another size");
  }
}

Content Plugin::read(PJRT_Buffer* buffer) {
  Content content;
  auto type = FRAMEDEX_ARGUMENTS(PJRT_Buffer_ElementType);
  type.buffer = buffer;
  FRAMEDEX_CALL(PJRT_Buffer_ElementType, type);
  content.type = type.type;
  auto shape = FRAMEDEX_ARGUMENTS(PJRT_Buffer_Dimensions);
  shape.buffer = buffer;
  FRAMEDEX_CALL(PJRT_Buffer_Dimensions, shape);
  content.dimensions.assign(shape.dims, shape.dims + shape.num_dims);
  std::vector<int64_t> row_major(shape.num_dims);
  for (size_t i = 0; i < shape.num_dims; ++i) row_major[i] = static_cast<int64_t>(shape.num_dims - 1 - i);
  auto layout = zeroed<PJRT_Buffer_MemoryLayout>(PJRT_Buffer_MemoryLayout_STRUCT_SIZE);
  layout.type = PJRT_Buffer_MemoryLayout_Type_Tiled;
  layout.tiled.struct_size = PJRT_Buffer_MemoryLayout_Tiled_STRUCT_SIZE;
  layout.tiled.minor_to_major = row_major.data();
  layout.tiled.minor_to_major_size = row_major.size();
  auto read = FRAMEDEX_ARGUMENTS(PJRT_Buffer_ToHostBuffer);
  read.src = buffer;
  read.host_layout = &layout;
  FRAMEDEX_CALL(PJRT_Buffer_ToHostBuffer, read);  // the size
  content.bytes.resize(read.dst_size);
  if (content.bytes.empty()) return content;
  read.dst = content.bytes.data();
  FRAMEDEX_CALL(PJRT_Buffer_ToHostBuffer, read);
  wait(read.event);
  return content;
}

void Plugin::remove_content(PJRT_Buffer* buffer) {
  auto remove = FRAMEDEX_ARGUMENTS(PJRT_Buffer_Delete);
  remove.buffer = buffer;
  FRAMEDEX_CALL(PJRT_Buffer_Delete, remove);
}

void Plugin::destroy(PJRT_Buffer* buffer) {
  auto destroy = FRAMEDEX_ARGUMENTS(PJRT_Buffer_Destroy);
  destroy.buffer = buffer;
  FRAMEDEX_CALL(PJRT_Buffer_Destroy, destroy);
}

void Plugin::destroy(PJRT_LoadedExecutable* executable) {
  auto destroy = FRAMEDEX_ARGUMENTS(PJRT_LoadedExecutable_Destroy);
  destroy.executable = executable;
  FRAMEDEX_CALL(PJRT_LoadedExecutable_Destroy, destroy);
}

}  // namespace framedex::replay
