// Generated from native/abi; do not edit.
#include "pjrt/traced_call.h"
using namespace framedex::pjrt;
namespace {
const PJRT_Api* plugin = nullptr;
uint32_t first_function = 0;
const char* const names_PJRT_Error_Destroy[] = {"error"};
[[maybe_unused]] void inputs_PJRT_Error_Destroy([[maybe_unused]] const PJRT_Error_Destroy_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Error_Destroy_Args::error)) writer.address(0, args->error);
}
[[maybe_unused]] void outputs_PJRT_Error_Destroy([[maybe_unused]] const PJRT_Error_Destroy_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
}
const char* const names_PJRT_Error_Message[] = {"error", "message"};
[[maybe_unused]] void inputs_PJRT_Error_Message([[maybe_unused]] const PJRT_Error_Message_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Error_Message_Args::error)) writer.address(0, args->error);
}
[[maybe_unused]] void outputs_PJRT_Error_Message([[maybe_unused]] const PJRT_Error_Message_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Error_Message_Args::message)) writer.text_or_size(1, args->message, args->message_size);
}
const char* const names_PJRT_Error_GetCode[] = {"error", "code"};
[[maybe_unused]] void inputs_PJRT_Error_GetCode([[maybe_unused]] const PJRT_Error_GetCode_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Error_GetCode_Args::error)) writer.address(0, args->error);
}
[[maybe_unused]] void outputs_PJRT_Error_GetCode([[maybe_unused]] const PJRT_Error_GetCode_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Error_GetCode_Args::code)) enumeration(writer, 1, args->code);
}
const char* const names_PJRT_Plugin_Initialize[] = {nullptr};
[[maybe_unused]] void inputs_PJRT_Plugin_Initialize([[maybe_unused]] const PJRT_Plugin_Initialize_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
}
[[maybe_unused]] void outputs_PJRT_Plugin_Initialize([[maybe_unused]] const PJRT_Plugin_Initialize_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
}
const char* const names_PJRT_Plugin_Attributes[] = {"attributes"};
[[maybe_unused]] void inputs_PJRT_Plugin_Attributes([[maybe_unused]] const PJRT_Plugin_Attributes_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
}
[[maybe_unused]] void outputs_PJRT_Plugin_Attributes([[maybe_unused]] const PJRT_Plugin_Attributes_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Plugin_Attributes_Args::attributes)) named_values(writer, 0, args->attributes, args->num_attributes);
}
const char* const names_PJRT_Event_Destroy[] = {"event"};
[[maybe_unused]] void inputs_PJRT_Event_Destroy([[maybe_unused]] const PJRT_Event_Destroy_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Event_Destroy_Args::event)) writer.address(0, args->event);
}
[[maybe_unused]] void outputs_PJRT_Event_Destroy([[maybe_unused]] const PJRT_Event_Destroy_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
}
const char* const names_PJRT_Event_IsReady[] = {"event", "is_ready"};
[[maybe_unused]] void inputs_PJRT_Event_IsReady([[maybe_unused]] const PJRT_Event_IsReady_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Event_IsReady_Args::event)) writer.address(0, args->event);
}
[[maybe_unused]] void outputs_PJRT_Event_IsReady([[maybe_unused]] const PJRT_Event_IsReady_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Event_IsReady_Args::is_ready)) writer.boolean(1, args->is_ready);
}
const char* const names_PJRT_Event_Error[] = {"event"};
[[maybe_unused]] void inputs_PJRT_Event_Error([[maybe_unused]] const PJRT_Event_Error_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Event_Error_Args::event)) writer.address(0, args->event);
}
[[maybe_unused]] void outputs_PJRT_Event_Error([[maybe_unused]] const PJRT_Event_Error_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
}
const char* const names_PJRT_Event_Await[] = {"event"};
[[maybe_unused]] void inputs_PJRT_Event_Await([[maybe_unused]] const PJRT_Event_Await_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Event_Await_Args::event)) writer.address(0, args->event);
}
[[maybe_unused]] void outputs_PJRT_Event_Await([[maybe_unused]] const PJRT_Event_Await_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
}
const char* const names_PJRT_Event_OnReady[] = {"event", "user_arg"};
[[maybe_unused]] void inputs_PJRT_Event_OnReady([[maybe_unused]] const PJRT_Event_OnReady_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Event_OnReady_Args::event)) writer.address(0, args->event);
  if (has(args, &PJRT_Event_OnReady_Args::user_arg)) writer.address(1, args->user_arg);
}
[[maybe_unused]] void outputs_PJRT_Event_OnReady([[maybe_unused]] const PJRT_Event_OnReady_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
}
const char* const names_PJRT_Client_Create[] = {"create_options", "kv_get_user_arg", "kv_put_user_arg", "client", "kv_try_get_user_arg"};
[[maybe_unused]] void inputs_PJRT_Client_Create([[maybe_unused]] const PJRT_Client_Create_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Client_Create_Args::create_options)) named_values(writer, 0, args->create_options, args->num_options);
  if (has(args, &PJRT_Client_Create_Args::kv_get_user_arg)) writer.address(1, args->kv_get_user_arg);
  if (has(args, &PJRT_Client_Create_Args::kv_put_user_arg)) writer.address(2, args->kv_put_user_arg);
  if (has(args, &PJRT_Client_Create_Args::kv_try_get_user_arg)) writer.address(4, args->kv_try_get_user_arg);
}
[[maybe_unused]] void outputs_PJRT_Client_Create([[maybe_unused]] const PJRT_Client_Create_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Client_Create_Args::client)) writer.address(3, args->client);
}
const char* const names_PJRT_Client_Destroy[] = {"client"};
[[maybe_unused]] void inputs_PJRT_Client_Destroy([[maybe_unused]] const PJRT_Client_Destroy_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Client_Destroy_Args::client)) writer.address(0, args->client);
}
[[maybe_unused]] void outputs_PJRT_Client_Destroy([[maybe_unused]] const PJRT_Client_Destroy_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
}
const char* const names_PJRT_Client_PlatformName[] = {"client", "platform_name"};
[[maybe_unused]] void inputs_PJRT_Client_PlatformName([[maybe_unused]] const PJRT_Client_PlatformName_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Client_PlatformName_Args::client)) writer.address(0, args->client);
}
[[maybe_unused]] void outputs_PJRT_Client_PlatformName([[maybe_unused]] const PJRT_Client_PlatformName_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Client_PlatformName_Args::platform_name)) writer.text_or_size(1, args->platform_name, args->platform_name_size);
}
const char* const names_PJRT_Client_ProcessIndex[] = {"client", "process_index"};
[[maybe_unused]] void inputs_PJRT_Client_ProcessIndex([[maybe_unused]] const PJRT_Client_ProcessIndex_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Client_ProcessIndex_Args::client)) writer.address(0, args->client);
}
[[maybe_unused]] void outputs_PJRT_Client_ProcessIndex([[maybe_unused]] const PJRT_Client_ProcessIndex_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Client_ProcessIndex_Args::process_index)) writer.integer(1, args->process_index);
}
const char* const names_PJRT_Client_PlatformVersion[] = {"client", "platform_version"};
[[maybe_unused]] void inputs_PJRT_Client_PlatformVersion([[maybe_unused]] const PJRT_Client_PlatformVersion_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Client_PlatformVersion_Args::client)) writer.address(0, args->client);
}
[[maybe_unused]] void outputs_PJRT_Client_PlatformVersion([[maybe_unused]] const PJRT_Client_PlatformVersion_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Client_PlatformVersion_Args::platform_version)) writer.text_or_size(1, args->platform_version, args->platform_version_size);
}
const char* const names_PJRT_Client_Devices[] = {"client", "devices"};
[[maybe_unused]] void inputs_PJRT_Client_Devices([[maybe_unused]] const PJRT_Client_Devices_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Client_Devices_Args::client)) writer.address(0, args->client);
}
[[maybe_unused]] void outputs_PJRT_Client_Devices([[maybe_unused]] const PJRT_Client_Devices_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Client_Devices_Args::devices)) writer.addresses(1, reinterpret_cast<const void* const*>(args->devices), args->num_devices);
}
const char* const names_PJRT_Client_AddressableDevices[] = {"client", "addressable_devices"};
[[maybe_unused]] void inputs_PJRT_Client_AddressableDevices([[maybe_unused]] const PJRT_Client_AddressableDevices_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Client_AddressableDevices_Args::client)) writer.address(0, args->client);
}
[[maybe_unused]] void outputs_PJRT_Client_AddressableDevices([[maybe_unused]] const PJRT_Client_AddressableDevices_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Client_AddressableDevices_Args::addressable_devices)) writer.addresses(1, reinterpret_cast<const void* const*>(args->addressable_devices), args->num_addressable_devices);
}
const char* const names_PJRT_Client_LookupDevice[] = {"client", "id", "device"};
[[maybe_unused]] void inputs_PJRT_Client_LookupDevice([[maybe_unused]] const PJRT_Client_LookupDevice_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Client_LookupDevice_Args::client)) writer.address(0, args->client);
  if (has(args, &PJRT_Client_LookupDevice_Args::id)) writer.integer(1, args->id);
}
[[maybe_unused]] void outputs_PJRT_Client_LookupDevice([[maybe_unused]] const PJRT_Client_LookupDevice_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Client_LookupDevice_Args::device)) writer.address(2, args->device);
}
const char* const names_PJRT_Client_LookupAddressableDevice[] = {"client", "local_hardware_id", "addressable_device"};
[[maybe_unused]] void inputs_PJRT_Client_LookupAddressableDevice([[maybe_unused]] const PJRT_Client_LookupAddressableDevice_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Client_LookupAddressableDevice_Args::client)) writer.address(0, args->client);
  if (has(args, &PJRT_Client_LookupAddressableDevice_Args::local_hardware_id)) writer.integer(1, args->local_hardware_id);
}
[[maybe_unused]] void outputs_PJRT_Client_LookupAddressableDevice([[maybe_unused]] const PJRT_Client_LookupAddressableDevice_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Client_LookupAddressableDevice_Args::addressable_device)) writer.address(2, args->addressable_device);
}
const char* const names_PJRT_Client_AddressableMemories[] = {"client", "addressable_memories"};
[[maybe_unused]] void inputs_PJRT_Client_AddressableMemories([[maybe_unused]] const PJRT_Client_AddressableMemories_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Client_AddressableMemories_Args::client)) writer.address(0, args->client);
}
[[maybe_unused]] void outputs_PJRT_Client_AddressableMemories([[maybe_unused]] const PJRT_Client_AddressableMemories_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Client_AddressableMemories_Args::addressable_memories)) writer.addresses(1, reinterpret_cast<const void* const*>(args->addressable_memories), args->num_addressable_memories);
}
const char* const names_PJRT_Client_Compile[] = {"client", "program.code", "program.format", "compile_options", "executable"};
[[maybe_unused]] void inputs_PJRT_Client_Compile([[maybe_unused]] const PJRT_Client_Compile_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Client_Compile_Args::client)) writer.address(0, args->client);
  if (has(args, &PJRT_Client_Compile_Args::program) && args->program != nullptr && has(args->program, &PJRT_Program::code)) writer.text_or_size(1, args->program->code, args->program->code_size);
  if (has(args, &PJRT_Client_Compile_Args::program) && args->program != nullptr && has(args->program, &PJRT_Program::format)) writer.text_or_size(2, args->program->format, args->program->format_size);
  if (has(args, &PJRT_Client_Compile_Args::compile_options)) writer.text_or_size(3, args->compile_options, args->compile_options_size);
}
[[maybe_unused]] void outputs_PJRT_Client_Compile([[maybe_unused]] const PJRT_Client_Compile_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Client_Compile_Args::executable)) writer.address(4, args->executable);
}
const char* const names_PJRT_Client_DefaultDeviceAssignment[] = {"client", "num_replicas", "num_partitions", "default_assignment"};
[[maybe_unused]] void inputs_PJRT_Client_DefaultDeviceAssignment([[maybe_unused]] const PJRT_Client_DefaultDeviceAssignment_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Client_DefaultDeviceAssignment_Args::client)) writer.address(0, args->client);
  if (has(args, &PJRT_Client_DefaultDeviceAssignment_Args::num_replicas)) writer.integer(1, args->num_replicas);
  if (has(args, &PJRT_Client_DefaultDeviceAssignment_Args::num_partitions)) writer.integer(2, args->num_partitions);
  if (has(args, &PJRT_Client_DefaultDeviceAssignment_Args::default_assignment)) writer.integers(3, args->default_assignment, args->default_assignment_size);
}
[[maybe_unused]] void outputs_PJRT_Client_DefaultDeviceAssignment([[maybe_unused]] const PJRT_Client_DefaultDeviceAssignment_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
}
const char* const names_PJRT_Client_BufferFromHostBuffer[] = {"client", "data", "type", "dims", "byte_strides", "host_buffer_semantics", "device", "memory", "device_layout.type", "done_with_host_buffer", "buffer", "bytes"};
[[maybe_unused]] void inputs_PJRT_Client_BufferFromHostBuffer([[maybe_unused]] const PJRT_Client_BufferFromHostBuffer_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Client_BufferFromHostBuffer_Args::client)) writer.address(0, args->client);
  if (has(args, &PJRT_Client_BufferFromHostBuffer_Args::data)) writer.address(1, args->data);
  if (has(args, &PJRT_Client_BufferFromHostBuffer_Args::type)) enumeration(writer, 2, args->type);
  if (has(args, &PJRT_Client_BufferFromHostBuffer_Args::dims)) writer.integers(3, args->dims, args->num_dims);
  if (has(args, &PJRT_Client_BufferFromHostBuffer_Args::byte_strides)) writer.integers(4, args->byte_strides, args->num_byte_strides);
  if (has(args, &PJRT_Client_BufferFromHostBuffer_Args::host_buffer_semantics)) enumeration(writer, 5, args->host_buffer_semantics);
  if (has(args, &PJRT_Client_BufferFromHostBuffer_Args::device)) writer.address(6, args->device);
  if (has(args, &PJRT_Client_BufferFromHostBuffer_Args::memory)) writer.address(7, args->memory);
  if (has(args, &PJRT_Client_BufferFromHostBuffer_Args::device_layout) && args->device_layout != nullptr && has(args->device_layout, &PJRT_Buffer_MemoryLayout::type)) enumeration(writer, 8, args->device_layout->type);
  if (true) writer.integer(11, dense_bytes(args->type, args->dims, args->num_dims));
}
[[maybe_unused]] void outputs_PJRT_Client_BufferFromHostBuffer([[maybe_unused]] const PJRT_Client_BufferFromHostBuffer_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Client_BufferFromHostBuffer_Args::done_with_host_buffer)) writer.address(9, args->done_with_host_buffer);
  if (has(args, &PJRT_Client_BufferFromHostBuffer_Args::buffer)) writer.address(10, args->buffer);
}
const char* const names_PJRT_DeviceDescription_Id[] = {"device_description", "id"};
[[maybe_unused]] void inputs_PJRT_DeviceDescription_Id([[maybe_unused]] const PJRT_DeviceDescription_Id_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_DeviceDescription_Id_Args::device_description)) writer.address(0, args->device_description);
}
[[maybe_unused]] void outputs_PJRT_DeviceDescription_Id([[maybe_unused]] const PJRT_DeviceDescription_Id_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_DeviceDescription_Id_Args::id)) writer.integer(1, args->id);
}
const char* const names_PJRT_DeviceDescription_ProcessIndex[] = {"device_description", "process_index"};
[[maybe_unused]] void inputs_PJRT_DeviceDescription_ProcessIndex([[maybe_unused]] const PJRT_DeviceDescription_ProcessIndex_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_DeviceDescription_ProcessIndex_Args::device_description)) writer.address(0, args->device_description);
}
[[maybe_unused]] void outputs_PJRT_DeviceDescription_ProcessIndex([[maybe_unused]] const PJRT_DeviceDescription_ProcessIndex_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_DeviceDescription_ProcessIndex_Args::process_index)) writer.integer(1, args->process_index);
}
const char* const names_PJRT_DeviceDescription_Attributes[] = {"device_description", "attributes"};
[[maybe_unused]] void inputs_PJRT_DeviceDescription_Attributes([[maybe_unused]] const PJRT_DeviceDescription_Attributes_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_DeviceDescription_Attributes_Args::device_description)) writer.address(0, args->device_description);
}
[[maybe_unused]] void outputs_PJRT_DeviceDescription_Attributes([[maybe_unused]] const PJRT_DeviceDescription_Attributes_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_DeviceDescription_Attributes_Args::attributes)) named_values(writer, 1, args->attributes, args->num_attributes);
}
const char* const names_PJRT_DeviceDescription_Kind[] = {"device_description", "device_kind"};
[[maybe_unused]] void inputs_PJRT_DeviceDescription_Kind([[maybe_unused]] const PJRT_DeviceDescription_Kind_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_DeviceDescription_Kind_Args::device_description)) writer.address(0, args->device_description);
}
[[maybe_unused]] void outputs_PJRT_DeviceDescription_Kind([[maybe_unused]] const PJRT_DeviceDescription_Kind_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_DeviceDescription_Kind_Args::device_kind)) writer.text_or_size(1, args->device_kind, args->device_kind_size);
}
const char* const names_PJRT_DeviceDescription_DebugString[] = {"device_description", "debug_string"};
[[maybe_unused]] void inputs_PJRT_DeviceDescription_DebugString([[maybe_unused]] const PJRT_DeviceDescription_DebugString_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_DeviceDescription_DebugString_Args::device_description)) writer.address(0, args->device_description);
}
[[maybe_unused]] void outputs_PJRT_DeviceDescription_DebugString([[maybe_unused]] const PJRT_DeviceDescription_DebugString_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_DeviceDescription_DebugString_Args::debug_string)) writer.text_or_size(1, args->debug_string, args->debug_string_size);
}
const char* const names_PJRT_DeviceDescription_ToString[] = {"device_description", "to_string"};
[[maybe_unused]] void inputs_PJRT_DeviceDescription_ToString([[maybe_unused]] const PJRT_DeviceDescription_ToString_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_DeviceDescription_ToString_Args::device_description)) writer.address(0, args->device_description);
}
[[maybe_unused]] void outputs_PJRT_DeviceDescription_ToString([[maybe_unused]] const PJRT_DeviceDescription_ToString_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_DeviceDescription_ToString_Args::to_string)) writer.text_or_size(1, args->to_string, args->to_string_size);
}
const char* const names_PJRT_Device_GetDescription[] = {"device", "device_description"};
[[maybe_unused]] void inputs_PJRT_Device_GetDescription([[maybe_unused]] const PJRT_Device_GetDescription_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Device_GetDescription_Args::device)) writer.address(0, args->device);
}
[[maybe_unused]] void outputs_PJRT_Device_GetDescription([[maybe_unused]] const PJRT_Device_GetDescription_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Device_GetDescription_Args::device_description)) writer.address(1, args->device_description);
}
const char* const names_PJRT_Device_IsAddressable[] = {"device", "is_addressable"};
[[maybe_unused]] void inputs_PJRT_Device_IsAddressable([[maybe_unused]] const PJRT_Device_IsAddressable_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Device_IsAddressable_Args::device)) writer.address(0, args->device);
}
[[maybe_unused]] void outputs_PJRT_Device_IsAddressable([[maybe_unused]] const PJRT_Device_IsAddressable_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Device_IsAddressable_Args::is_addressable)) writer.boolean(1, args->is_addressable);
}
const char* const names_PJRT_Device_LocalHardwareId[] = {"device", "local_hardware_id"};
[[maybe_unused]] void inputs_PJRT_Device_LocalHardwareId([[maybe_unused]] const PJRT_Device_LocalHardwareId_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Device_LocalHardwareId_Args::device)) writer.address(0, args->device);
}
[[maybe_unused]] void outputs_PJRT_Device_LocalHardwareId([[maybe_unused]] const PJRT_Device_LocalHardwareId_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Device_LocalHardwareId_Args::local_hardware_id)) writer.integer(1, args->local_hardware_id);
}
const char* const names_PJRT_Device_AddressableMemories[] = {"device", "memories"};
[[maybe_unused]] void inputs_PJRT_Device_AddressableMemories([[maybe_unused]] const PJRT_Device_AddressableMemories_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Device_AddressableMemories_Args::device)) writer.address(0, args->device);
}
[[maybe_unused]] void outputs_PJRT_Device_AddressableMemories([[maybe_unused]] const PJRT_Device_AddressableMemories_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Device_AddressableMemories_Args::memories)) writer.addresses(1, reinterpret_cast<const void* const*>(args->memories), args->num_memories);
}
const char* const names_PJRT_Device_DefaultMemory[] = {"device", "memory"};
[[maybe_unused]] void inputs_PJRT_Device_DefaultMemory([[maybe_unused]] const PJRT_Device_DefaultMemory_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Device_DefaultMemory_Args::device)) writer.address(0, args->device);
}
[[maybe_unused]] void outputs_PJRT_Device_DefaultMemory([[maybe_unused]] const PJRT_Device_DefaultMemory_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Device_DefaultMemory_Args::memory)) writer.address(1, args->memory);
}
const char* const names_PJRT_Device_MemoryStats[] = {"device", "bytes_in_use", "peak_bytes_in_use", "peak_bytes_in_use_is_set", "num_allocs", "num_allocs_is_set", "largest_alloc_size", "largest_alloc_size_is_set", "bytes_limit", "bytes_limit_is_set", "bytes_reserved", "bytes_reserved_is_set", "peak_bytes_reserved", "peak_bytes_reserved_is_set", "bytes_reservable_limit", "bytes_reservable_limit_is_set", "largest_free_block_bytes", "largest_free_block_bytes_is_set", "pool_bytes", "pool_bytes_is_set", "peak_pool_bytes", "peak_pool_bytes_is_set"};
[[maybe_unused]] void inputs_PJRT_Device_MemoryStats([[maybe_unused]] const PJRT_Device_MemoryStats_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Device_MemoryStats_Args::device)) writer.address(0, args->device);
}
[[maybe_unused]] void outputs_PJRT_Device_MemoryStats([[maybe_unused]] const PJRT_Device_MemoryStats_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Device_MemoryStats_Args::bytes_in_use)) writer.integer(1, args->bytes_in_use);
  if (has(args, &PJRT_Device_MemoryStats_Args::peak_bytes_in_use)) writer.integer(2, args->peak_bytes_in_use);
  if (has(args, &PJRT_Device_MemoryStats_Args::peak_bytes_in_use_is_set)) writer.boolean(3, args->peak_bytes_in_use_is_set);
  if (has(args, &PJRT_Device_MemoryStats_Args::num_allocs)) writer.integer(4, args->num_allocs);
  if (has(args, &PJRT_Device_MemoryStats_Args::num_allocs_is_set)) writer.boolean(5, args->num_allocs_is_set);
  if (has(args, &PJRT_Device_MemoryStats_Args::largest_alloc_size)) writer.integer(6, args->largest_alloc_size);
  if (has(args, &PJRT_Device_MemoryStats_Args::largest_alloc_size_is_set)) writer.boolean(7, args->largest_alloc_size_is_set);
  if (has(args, &PJRT_Device_MemoryStats_Args::bytes_limit)) writer.integer(8, args->bytes_limit);
  if (has(args, &PJRT_Device_MemoryStats_Args::bytes_limit_is_set)) writer.boolean(9, args->bytes_limit_is_set);
  if (has(args, &PJRT_Device_MemoryStats_Args::bytes_reserved)) writer.integer(10, args->bytes_reserved);
  if (has(args, &PJRT_Device_MemoryStats_Args::bytes_reserved_is_set)) writer.boolean(11, args->bytes_reserved_is_set);
  if (has(args, &PJRT_Device_MemoryStats_Args::peak_bytes_reserved)) writer.integer(12, args->peak_bytes_reserved);
  if (has(args, &PJRT_Device_MemoryStats_Args::peak_bytes_reserved_is_set)) writer.boolean(13, args->peak_bytes_reserved_is_set);
  if (has(args, &PJRT_Device_MemoryStats_Args::bytes_reservable_limit)) writer.integer(14, args->bytes_reservable_limit);
  if (has(args, &PJRT_Device_MemoryStats_Args::bytes_reservable_limit_is_set)) writer.boolean(15, args->bytes_reservable_limit_is_set);
  if (has(args, &PJRT_Device_MemoryStats_Args::largest_free_block_bytes)) writer.integer(16, args->largest_free_block_bytes);
  if (has(args, &PJRT_Device_MemoryStats_Args::largest_free_block_bytes_is_set)) writer.boolean(17, args->largest_free_block_bytes_is_set);
  if (has(args, &PJRT_Device_MemoryStats_Args::pool_bytes)) writer.integer(18, args->pool_bytes);
  if (has(args, &PJRT_Device_MemoryStats_Args::pool_bytes_is_set)) writer.boolean(19, args->pool_bytes_is_set);
  if (has(args, &PJRT_Device_MemoryStats_Args::peak_pool_bytes)) writer.integer(20, args->peak_pool_bytes);
  if (has(args, &PJRT_Device_MemoryStats_Args::peak_pool_bytes_is_set)) writer.boolean(21, args->peak_pool_bytes_is_set);
}
const char* const names_PJRT_Memory_Id[] = {"memory", "id"};
[[maybe_unused]] void inputs_PJRT_Memory_Id([[maybe_unused]] const PJRT_Memory_Id_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Memory_Id_Args::memory)) writer.address(0, args->memory);
}
[[maybe_unused]] void outputs_PJRT_Memory_Id([[maybe_unused]] const PJRT_Memory_Id_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Memory_Id_Args::id)) writer.integer(1, args->id);
}
const char* const names_PJRT_Memory_Kind[] = {"memory", "kind"};
[[maybe_unused]] void inputs_PJRT_Memory_Kind([[maybe_unused]] const PJRT_Memory_Kind_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Memory_Kind_Args::memory)) writer.address(0, args->memory);
}
[[maybe_unused]] void outputs_PJRT_Memory_Kind([[maybe_unused]] const PJRT_Memory_Kind_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Memory_Kind_Args::kind)) writer.text_or_size(1, args->kind, args->kind_size);
}
const char* const names_PJRT_Memory_DebugString[] = {"memory", "debug_string"};
[[maybe_unused]] void inputs_PJRT_Memory_DebugString([[maybe_unused]] const PJRT_Memory_DebugString_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Memory_DebugString_Args::memory)) writer.address(0, args->memory);
}
[[maybe_unused]] void outputs_PJRT_Memory_DebugString([[maybe_unused]] const PJRT_Memory_DebugString_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Memory_DebugString_Args::debug_string)) writer.text_or_size(1, args->debug_string, args->debug_string_size);
}
const char* const names_PJRT_Memory_ToString[] = {"memory", "to_string"};
[[maybe_unused]] void inputs_PJRT_Memory_ToString([[maybe_unused]] const PJRT_Memory_ToString_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Memory_ToString_Args::memory)) writer.address(0, args->memory);
}
[[maybe_unused]] void outputs_PJRT_Memory_ToString([[maybe_unused]] const PJRT_Memory_ToString_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Memory_ToString_Args::to_string)) writer.text_or_size(1, args->to_string, args->to_string_size);
}
const char* const names_PJRT_Memory_AddressableByDevices[] = {"memory", "devices"};
[[maybe_unused]] void inputs_PJRT_Memory_AddressableByDevices([[maybe_unused]] const PJRT_Memory_AddressableByDevices_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Memory_AddressableByDevices_Args::memory)) writer.address(0, args->memory);
}
[[maybe_unused]] void outputs_PJRT_Memory_AddressableByDevices([[maybe_unused]] const PJRT_Memory_AddressableByDevices_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Memory_AddressableByDevices_Args::devices)) writer.addresses(1, reinterpret_cast<const void* const*>(args->devices), args->num_devices);
}
const char* const names_PJRT_Executable_Destroy[] = {"executable"};
[[maybe_unused]] void inputs_PJRT_Executable_Destroy([[maybe_unused]] const PJRT_Executable_Destroy_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Executable_Destroy_Args::executable)) writer.address(0, args->executable);
}
[[maybe_unused]] void outputs_PJRT_Executable_Destroy([[maybe_unused]] const PJRT_Executable_Destroy_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
}
const char* const names_PJRT_Executable_Name[] = {"executable", "executable_name"};
[[maybe_unused]] void inputs_PJRT_Executable_Name([[maybe_unused]] const PJRT_Executable_Name_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Executable_Name_Args::executable)) writer.address(0, args->executable);
}
[[maybe_unused]] void outputs_PJRT_Executable_Name([[maybe_unused]] const PJRT_Executable_Name_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Executable_Name_Args::executable_name)) writer.text_or_size(1, args->executable_name, args->executable_name_size);
}
const char* const names_PJRT_Executable_NumReplicas[] = {"executable", "num_replicas"};
[[maybe_unused]] void inputs_PJRT_Executable_NumReplicas([[maybe_unused]] const PJRT_Executable_NumReplicas_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Executable_NumReplicas_Args::executable)) writer.address(0, args->executable);
}
[[maybe_unused]] void outputs_PJRT_Executable_NumReplicas([[maybe_unused]] const PJRT_Executable_NumReplicas_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Executable_NumReplicas_Args::num_replicas)) writer.integer(1, static_cast<int64_t>(args->num_replicas));
}
const char* const names_PJRT_Executable_NumPartitions[] = {"executable", "num_partitions"};
[[maybe_unused]] void inputs_PJRT_Executable_NumPartitions([[maybe_unused]] const PJRT_Executable_NumPartitions_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Executable_NumPartitions_Args::executable)) writer.address(0, args->executable);
}
[[maybe_unused]] void outputs_PJRT_Executable_NumPartitions([[maybe_unused]] const PJRT_Executable_NumPartitions_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Executable_NumPartitions_Args::num_partitions)) writer.integer(1, static_cast<int64_t>(args->num_partitions));
}
const char* const names_PJRT_Executable_NumOutputs[] = {"executable", "num_outputs"};
[[maybe_unused]] void inputs_PJRT_Executable_NumOutputs([[maybe_unused]] const PJRT_Executable_NumOutputs_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Executable_NumOutputs_Args::executable)) writer.address(0, args->executable);
}
[[maybe_unused]] void outputs_PJRT_Executable_NumOutputs([[maybe_unused]] const PJRT_Executable_NumOutputs_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Executable_NumOutputs_Args::num_outputs)) writer.integer(1, static_cast<int64_t>(args->num_outputs));
}
const char* const names_PJRT_Executable_SizeOfGeneratedCodeInBytes[] = {"executable", "size_in_bytes"};
[[maybe_unused]] void inputs_PJRT_Executable_SizeOfGeneratedCodeInBytes([[maybe_unused]] const PJRT_Executable_SizeOfGeneratedCodeInBytes_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Executable_SizeOfGeneratedCodeInBytes_Args::executable)) writer.address(0, args->executable);
}
[[maybe_unused]] void outputs_PJRT_Executable_SizeOfGeneratedCodeInBytes([[maybe_unused]] const PJRT_Executable_SizeOfGeneratedCodeInBytes_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Executable_SizeOfGeneratedCodeInBytes_Args::size_in_bytes)) writer.integer(1, args->size_in_bytes);
}
const char* const names_PJRT_Executable_GetCostAnalysis[] = {"executable", "properties"};
[[maybe_unused]] void inputs_PJRT_Executable_GetCostAnalysis([[maybe_unused]] const PJRT_Executable_GetCostAnalysis_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Executable_GetCostAnalysis_Args::executable)) writer.address(0, args->executable);
}
[[maybe_unused]] void outputs_PJRT_Executable_GetCostAnalysis([[maybe_unused]] const PJRT_Executable_GetCostAnalysis_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Executable_GetCostAnalysis_Args::properties)) named_values(writer, 1, args->properties, args->num_properties);
}
const char* const names_PJRT_Executable_OutputMemoryKinds[] = {"executable", "num_outputs", "memory_kinds", "memory_kind_sizes"};
[[maybe_unused]] void inputs_PJRT_Executable_OutputMemoryKinds([[maybe_unused]] const PJRT_Executable_OutputMemoryKinds_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Executable_OutputMemoryKinds_Args::executable)) writer.address(0, args->executable);
  if (has(args, &PJRT_Executable_OutputMemoryKinds_Args::num_outputs)) writer.integer(1, static_cast<int64_t>(args->num_outputs));
}
[[maybe_unused]] void outputs_PJRT_Executable_OutputMemoryKinds([[maybe_unused]] const PJRT_Executable_OutputMemoryKinds_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Executable_OutputMemoryKinds_Args::memory_kinds)) writer.address(2, args->memory_kinds);
  if (has(args, &PJRT_Executable_OutputMemoryKinds_Args::memory_kind_sizes)) writer.address(3, args->memory_kind_sizes);
}
const char* const names_PJRT_Executable_OptimizedProgram[] = {"executable", "program.code", "program.format"};
[[maybe_unused]] void inputs_PJRT_Executable_OptimizedProgram([[maybe_unused]] const PJRT_Executable_OptimizedProgram_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Executable_OptimizedProgram_Args::executable)) writer.address(0, args->executable);
}
[[maybe_unused]] void outputs_PJRT_Executable_OptimizedProgram([[maybe_unused]] const PJRT_Executable_OptimizedProgram_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Executable_OptimizedProgram_Args::program) && args->program != nullptr && has(args->program, &PJRT_Program::code)) writer.text_or_size(1, args->program->code, args->program->code_size);
  if (has(args, &PJRT_Executable_OptimizedProgram_Args::program) && args->program != nullptr && has(args->program, &PJRT_Program::format)) writer.text_or_size(2, args->program->format, args->program->format_size);
}
const char* const names_PJRT_Executable_Serialize[] = {"executable", "serialized_bytes", "serialized_executable"};
[[maybe_unused]] void inputs_PJRT_Executable_Serialize([[maybe_unused]] const PJRT_Executable_Serialize_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Executable_Serialize_Args::executable)) writer.address(0, args->executable);
  if (has(args, &PJRT_Executable_Serialize_Args::serialized_executable)) writer.address(2, args->serialized_executable);
}
[[maybe_unused]] void outputs_PJRT_Executable_Serialize([[maybe_unused]] const PJRT_Executable_Serialize_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Executable_Serialize_Args::serialized_bytes)) writer.text_or_size(1, args->serialized_bytes, args->serialized_bytes_size);
}
const char* const names_PJRT_LoadedExecutable_Destroy[] = {"executable"};
[[maybe_unused]] void inputs_PJRT_LoadedExecutable_Destroy([[maybe_unused]] const PJRT_LoadedExecutable_Destroy_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_LoadedExecutable_Destroy_Args::executable)) writer.address(0, args->executable);
}
[[maybe_unused]] void outputs_PJRT_LoadedExecutable_Destroy([[maybe_unused]] const PJRT_LoadedExecutable_Destroy_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
}
const char* const names_PJRT_LoadedExecutable_GetExecutable[] = {"loaded_executable", "executable"};
[[maybe_unused]] void inputs_PJRT_LoadedExecutable_GetExecutable([[maybe_unused]] const PJRT_LoadedExecutable_GetExecutable_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_LoadedExecutable_GetExecutable_Args::loaded_executable)) writer.address(0, args->loaded_executable);
}
[[maybe_unused]] void outputs_PJRT_LoadedExecutable_GetExecutable([[maybe_unused]] const PJRT_LoadedExecutable_GetExecutable_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_LoadedExecutable_GetExecutable_Args::executable)) writer.address(1, args->executable);
}
const char* const names_PJRT_LoadedExecutable_AddressableDevices[] = {"executable", "addressable_devices"};
[[maybe_unused]] void inputs_PJRT_LoadedExecutable_AddressableDevices([[maybe_unused]] const PJRT_LoadedExecutable_AddressableDevices_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_LoadedExecutable_AddressableDevices_Args::executable)) writer.address(0, args->executable);
}
[[maybe_unused]] void outputs_PJRT_LoadedExecutable_AddressableDevices([[maybe_unused]] const PJRT_LoadedExecutable_AddressableDevices_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_LoadedExecutable_AddressableDevices_Args::addressable_devices)) writer.addresses(1, reinterpret_cast<const void* const*>(args->addressable_devices), args->num_addressable_devices);
}
const char* const names_PJRT_LoadedExecutable_Delete[] = {"executable"};
[[maybe_unused]] void inputs_PJRT_LoadedExecutable_Delete([[maybe_unused]] const PJRT_LoadedExecutable_Delete_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_LoadedExecutable_Delete_Args::executable)) writer.address(0, args->executable);
}
[[maybe_unused]] void outputs_PJRT_LoadedExecutable_Delete([[maybe_unused]] const PJRT_LoadedExecutable_Delete_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
}
const char* const names_PJRT_LoadedExecutable_IsDeleted[] = {"executable", "is_deleted"};
[[maybe_unused]] void inputs_PJRT_LoadedExecutable_IsDeleted([[maybe_unused]] const PJRT_LoadedExecutable_IsDeleted_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_LoadedExecutable_IsDeleted_Args::executable)) writer.address(0, args->executable);
}
[[maybe_unused]] void outputs_PJRT_LoadedExecutable_IsDeleted([[maybe_unused]] const PJRT_LoadedExecutable_IsDeleted_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_LoadedExecutable_IsDeleted_Args::is_deleted)) writer.boolean(1, args->is_deleted);
}
const char* const names_PJRT_LoadedExecutable_Execute[] = {"executable", "options.send_callbacks", "options.recv_callbacks", "options.num_send_ops", "options.num_recv_ops", "options.launch_id", "options.non_donatable_input_indices", "options.context", "options.call_location", "options.num_tasks", "options.task_ids", "options.incarnation_ids", "options.multi_slice_config", "options.use_major_to_minor_data_layout_for_callbacks", "options.hlo_output_callbacks", "argument_lists", "num_devices", "num_args", "output_lists", "device_complete_events", "execute_device"};
[[maybe_unused]] void inputs_PJRT_LoadedExecutable_Execute([[maybe_unused]] const PJRT_LoadedExecutable_Execute_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_LoadedExecutable_Execute_Args::executable)) writer.address(0, args->executable);
  if (has(args, &PJRT_LoadedExecutable_Execute_Args::options) && args->options != nullptr && has(args->options, &PJRT_ExecuteOptions::send_callbacks)) writer.address(1, args->options->send_callbacks);
  if (has(args, &PJRT_LoadedExecutable_Execute_Args::options) && args->options != nullptr && has(args->options, &PJRT_ExecuteOptions::recv_callbacks)) writer.address(2, args->options->recv_callbacks);
  if (has(args, &PJRT_LoadedExecutable_Execute_Args::options) && args->options != nullptr && has(args->options, &PJRT_ExecuteOptions::num_send_ops)) writer.integer(3, static_cast<int64_t>(args->options->num_send_ops));
  if (has(args, &PJRT_LoadedExecutable_Execute_Args::options) && args->options != nullptr && has(args->options, &PJRT_ExecuteOptions::num_recv_ops)) writer.integer(4, static_cast<int64_t>(args->options->num_recv_ops));
  if (has(args, &PJRT_LoadedExecutable_Execute_Args::options) && args->options != nullptr && has(args->options, &PJRT_ExecuteOptions::launch_id)) writer.integer(5, args->options->launch_id);
  if (has(args, &PJRT_LoadedExecutable_Execute_Args::options) && args->options != nullptr && has(args->options, &PJRT_ExecuteOptions::non_donatable_input_indices)) writer.integers(6, args->options->non_donatable_input_indices, args->options->num_non_donatable_input_indices);
  if (has(args, &PJRT_LoadedExecutable_Execute_Args::options) && args->options != nullptr && has(args->options, &PJRT_ExecuteOptions::context)) writer.address(7, args->options->context);
  if (has(args, &PJRT_LoadedExecutable_Execute_Args::options) && args->options != nullptr && has(args->options, &PJRT_ExecuteOptions::call_location)) writer.text_or_size(8, args->options->call_location, text_length(args->options->call_location));
  if (has(args, &PJRT_LoadedExecutable_Execute_Args::options) && args->options != nullptr && has(args->options, &PJRT_ExecuteOptions::num_tasks)) writer.integer(9, static_cast<int64_t>(args->options->num_tasks));
  if (has(args, &PJRT_LoadedExecutable_Execute_Args::options) && args->options != nullptr && has(args->options, &PJRT_ExecuteOptions::task_ids)) writer.address(10, args->options->task_ids);
  if (has(args, &PJRT_LoadedExecutable_Execute_Args::options) && args->options != nullptr && has(args->options, &PJRT_ExecuteOptions::incarnation_ids)) writer.address(11, args->options->incarnation_ids);
  if (has(args, &PJRT_LoadedExecutable_Execute_Args::options) && args->options != nullptr && has(args->options, &PJRT_ExecuteOptions::multi_slice_config)) writer.address(12, args->options->multi_slice_config);
  if (has(args, &PJRT_LoadedExecutable_Execute_Args::options) && args->options != nullptr && has(args->options, &PJRT_ExecuteOptions::use_major_to_minor_data_layout_for_callbacks)) writer.boolean(13, args->options->use_major_to_minor_data_layout_for_callbacks);
  if (has(args, &PJRT_LoadedExecutable_Execute_Args::options) && args->options != nullptr && has(args->options, &PJRT_ExecuteOptions::hlo_output_callbacks)) writer.integer(14, static_cast<int64_t>(args->options->num_hlo_output_callbacks));
  if (has(args, &PJRT_LoadedExecutable_Execute_Args::argument_lists)) writer.address(15, args->argument_lists);
  if (has(args, &PJRT_LoadedExecutable_Execute_Args::num_devices)) writer.integer(16, static_cast<int64_t>(args->num_devices));
  if (has(args, &PJRT_LoadedExecutable_Execute_Args::num_args)) writer.integer(17, static_cast<int64_t>(args->num_args));
  if (has(args, &PJRT_LoadedExecutable_Execute_Args::execute_device)) writer.address(20, args->execute_device);
}
[[maybe_unused]] void outputs_PJRT_LoadedExecutable_Execute([[maybe_unused]] const PJRT_LoadedExecutable_Execute_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_LoadedExecutable_Execute_Args::output_lists)) writer.address(18, args->output_lists);
  if (has(args, &PJRT_LoadedExecutable_Execute_Args::device_complete_events)) writer.address(19, args->device_complete_events);
}
const char* const names_PJRT_Executable_DeserializeAndLoad[] = {"client", "serialized_executable", "loaded_executable", "overridden_serialized_compile_options", "load_options.computation_origin", "load_options.multi_slice_config"};
[[maybe_unused]] void inputs_PJRT_Executable_DeserializeAndLoad([[maybe_unused]] const PJRT_Executable_DeserializeAndLoad_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Executable_DeserializeAndLoad_Args::client)) writer.address(0, args->client);
  if (has(args, &PJRT_Executable_DeserializeAndLoad_Args::serialized_executable)) writer.text_or_size(1, args->serialized_executable, args->serialized_executable_size);
  if (has(args, &PJRT_Executable_DeserializeAndLoad_Args::overridden_serialized_compile_options)) writer.text_or_size(3, args->overridden_serialized_compile_options, args->overridden_serialized_compile_options_size);
  if (has(args, &PJRT_Executable_DeserializeAndLoad_Args::load_options) && args->load_options != nullptr && has(args->load_options, &PJRT_LoadOptions::computation_origin)) writer.integers(4, args->load_options->computation_origin, args->load_options->computation_origin_size);
  if (has(args, &PJRT_Executable_DeserializeAndLoad_Args::load_options) && args->load_options != nullptr && has(args->load_options, &PJRT_LoadOptions::multi_slice_config)) writer.address(5, args->load_options->multi_slice_config);
}
[[maybe_unused]] void outputs_PJRT_Executable_DeserializeAndLoad([[maybe_unused]] const PJRT_Executable_DeserializeAndLoad_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Executable_DeserializeAndLoad_Args::loaded_executable)) writer.address(2, args->loaded_executable);
}
const char* const names_PJRT_LoadedExecutable_Fingerprint[] = {"executable", "executable_fingerprint"};
[[maybe_unused]] void inputs_PJRT_LoadedExecutable_Fingerprint([[maybe_unused]] const PJRT_LoadedExecutable_Fingerprint_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_LoadedExecutable_Fingerprint_Args::executable)) writer.address(0, args->executable);
}
[[maybe_unused]] void outputs_PJRT_LoadedExecutable_Fingerprint([[maybe_unused]] const PJRT_LoadedExecutable_Fingerprint_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_LoadedExecutable_Fingerprint_Args::executable_fingerprint)) writer.text_or_size(1, args->executable_fingerprint, args->executable_fingerprint_size);
}
const char* const names_PJRT_Buffer_Destroy[] = {"buffer"};
[[maybe_unused]] void inputs_PJRT_Buffer_Destroy([[maybe_unused]] const PJRT_Buffer_Destroy_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Buffer_Destroy_Args::buffer)) writer.address(0, args->buffer);
}
[[maybe_unused]] void outputs_PJRT_Buffer_Destroy([[maybe_unused]] const PJRT_Buffer_Destroy_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
}
const char* const names_PJRT_Buffer_ElementType[] = {"buffer", "type"};
[[maybe_unused]] void inputs_PJRT_Buffer_ElementType([[maybe_unused]] const PJRT_Buffer_ElementType_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Buffer_ElementType_Args::buffer)) writer.address(0, args->buffer);
}
[[maybe_unused]] void outputs_PJRT_Buffer_ElementType([[maybe_unused]] const PJRT_Buffer_ElementType_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Buffer_ElementType_Args::type)) enumeration(writer, 1, args->type);
}
const char* const names_PJRT_Buffer_Dimensions[] = {"buffer", "dims"};
[[maybe_unused]] void inputs_PJRT_Buffer_Dimensions([[maybe_unused]] const PJRT_Buffer_Dimensions_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Buffer_Dimensions_Args::buffer)) writer.address(0, args->buffer);
}
[[maybe_unused]] void outputs_PJRT_Buffer_Dimensions([[maybe_unused]] const PJRT_Buffer_Dimensions_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Buffer_Dimensions_Args::dims)) writer.integers(1, args->dims, args->num_dims);
}
const char* const names_PJRT_Buffer_UnpaddedDimensions[] = {"buffer", "unpadded_dims"};
[[maybe_unused]] void inputs_PJRT_Buffer_UnpaddedDimensions([[maybe_unused]] const PJRT_Buffer_UnpaddedDimensions_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Buffer_UnpaddedDimensions_Args::buffer)) writer.address(0, args->buffer);
}
[[maybe_unused]] void outputs_PJRT_Buffer_UnpaddedDimensions([[maybe_unused]] const PJRT_Buffer_UnpaddedDimensions_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Buffer_UnpaddedDimensions_Args::unpadded_dims)) writer.integers(1, args->unpadded_dims, args->num_dims);
}
const char* const names_PJRT_Buffer_DynamicDimensionIndices[] = {"buffer", "dynamic_dim_indices", "num_dynamic_dims"};
[[maybe_unused]] void inputs_PJRT_Buffer_DynamicDimensionIndices([[maybe_unused]] const PJRT_Buffer_DynamicDimensionIndices_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Buffer_DynamicDimensionIndices_Args::buffer)) writer.address(0, args->buffer);
}
[[maybe_unused]] void outputs_PJRT_Buffer_DynamicDimensionIndices([[maybe_unused]] const PJRT_Buffer_DynamicDimensionIndices_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Buffer_DynamicDimensionIndices_Args::dynamic_dim_indices)) writer.address(1, args->dynamic_dim_indices);
  if (has(args, &PJRT_Buffer_DynamicDimensionIndices_Args::num_dynamic_dims)) writer.integer(2, static_cast<int64_t>(args->num_dynamic_dims));
}
const char* const names_PJRT_Buffer_GetMemoryLayout[] = {"buffer", "layout.type"};
[[maybe_unused]] void inputs_PJRT_Buffer_GetMemoryLayout([[maybe_unused]] const PJRT_Buffer_GetMemoryLayout_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Buffer_GetMemoryLayout_Args::buffer)) writer.address(0, args->buffer);
}
[[maybe_unused]] void outputs_PJRT_Buffer_GetMemoryLayout([[maybe_unused]] const PJRT_Buffer_GetMemoryLayout_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Buffer_GetMemoryLayout_Args::layout) && has((&args->layout), &PJRT_Buffer_MemoryLayout::type)) enumeration(writer, 1, (&args->layout)->type);
}
const char* const names_PJRT_Buffer_OnDeviceSizeInBytes[] = {"buffer", "on_device_size_in_bytes"};
[[maybe_unused]] void inputs_PJRT_Buffer_OnDeviceSizeInBytes([[maybe_unused]] const PJRT_Buffer_OnDeviceSizeInBytes_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Buffer_OnDeviceSizeInBytes_Args::buffer)) writer.address(0, args->buffer);
}
[[maybe_unused]] void outputs_PJRT_Buffer_OnDeviceSizeInBytes([[maybe_unused]] const PJRT_Buffer_OnDeviceSizeInBytes_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Buffer_OnDeviceSizeInBytes_Args::on_device_size_in_bytes)) writer.integer(1, static_cast<int64_t>(args->on_device_size_in_bytes));
}
const char* const names_PJRT_Buffer_Device[] = {"buffer", "device"};
[[maybe_unused]] void inputs_PJRT_Buffer_Device([[maybe_unused]] const PJRT_Buffer_Device_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Buffer_Device_Args::buffer)) writer.address(0, args->buffer);
}
[[maybe_unused]] void outputs_PJRT_Buffer_Device([[maybe_unused]] const PJRT_Buffer_Device_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Buffer_Device_Args::device)) writer.address(1, args->device);
}
const char* const names_PJRT_Buffer_Memory[] = {"buffer", "memory"};
[[maybe_unused]] void inputs_PJRT_Buffer_Memory([[maybe_unused]] const PJRT_Buffer_Memory_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Buffer_Memory_Args::buffer)) writer.address(0, args->buffer);
}
[[maybe_unused]] void outputs_PJRT_Buffer_Memory([[maybe_unused]] const PJRT_Buffer_Memory_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Buffer_Memory_Args::memory)) writer.address(1, args->memory);
}
const char* const names_PJRT_Buffer_Delete[] = {"buffer"};
[[maybe_unused]] void inputs_PJRT_Buffer_Delete([[maybe_unused]] const PJRT_Buffer_Delete_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Buffer_Delete_Args::buffer)) writer.address(0, args->buffer);
}
[[maybe_unused]] void outputs_PJRT_Buffer_Delete([[maybe_unused]] const PJRT_Buffer_Delete_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
}
const char* const names_PJRT_Buffer_IsDeleted[] = {"buffer", "is_deleted"};
[[maybe_unused]] void inputs_PJRT_Buffer_IsDeleted([[maybe_unused]] const PJRT_Buffer_IsDeleted_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Buffer_IsDeleted_Args::buffer)) writer.address(0, args->buffer);
}
[[maybe_unused]] void outputs_PJRT_Buffer_IsDeleted([[maybe_unused]] const PJRT_Buffer_IsDeleted_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Buffer_IsDeleted_Args::is_deleted)) writer.boolean(1, args->is_deleted);
}
const char* const names_PJRT_Buffer_CopyToDevice[] = {"buffer", "dst_device", "dst_buffer"};
[[maybe_unused]] void inputs_PJRT_Buffer_CopyToDevice([[maybe_unused]] const PJRT_Buffer_CopyToDevice_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Buffer_CopyToDevice_Args::buffer)) writer.address(0, args->buffer);
  if (has(args, &PJRT_Buffer_CopyToDevice_Args::dst_device)) writer.address(1, args->dst_device);
}
[[maybe_unused]] void outputs_PJRT_Buffer_CopyToDevice([[maybe_unused]] const PJRT_Buffer_CopyToDevice_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Buffer_CopyToDevice_Args::dst_buffer)) writer.address(2, args->dst_buffer);
}
const char* const names_PJRT_Buffer_ToHostBuffer[] = {"src", "host_layout.type", "dst", "dst_size", "event"};
[[maybe_unused]] void inputs_PJRT_Buffer_ToHostBuffer([[maybe_unused]] const PJRT_Buffer_ToHostBuffer_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Buffer_ToHostBuffer_Args::src)) writer.address(0, args->src);
  if (has(args, &PJRT_Buffer_ToHostBuffer_Args::host_layout) && args->host_layout != nullptr && has(args->host_layout, &PJRT_Buffer_MemoryLayout::type)) enumeration(writer, 1, args->host_layout->type);
}
[[maybe_unused]] void outputs_PJRT_Buffer_ToHostBuffer([[maybe_unused]] const PJRT_Buffer_ToHostBuffer_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Buffer_ToHostBuffer_Args::dst)) writer.address(2, args->dst);
  if (has(args, &PJRT_Buffer_ToHostBuffer_Args::dst_size)) writer.integer(3, static_cast<int64_t>(args->dst_size));
  if (has(args, &PJRT_Buffer_ToHostBuffer_Args::event)) writer.address(4, args->event);
}
const char* const names_PJRT_Buffer_IsOnCpu[] = {"buffer", "is_on_cpu"};
[[maybe_unused]] void inputs_PJRT_Buffer_IsOnCpu([[maybe_unused]] const PJRT_Buffer_IsOnCpu_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Buffer_IsOnCpu_Args::buffer)) writer.address(0, args->buffer);
}
[[maybe_unused]] void outputs_PJRT_Buffer_IsOnCpu([[maybe_unused]] const PJRT_Buffer_IsOnCpu_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Buffer_IsOnCpu_Args::is_on_cpu)) writer.boolean(1, args->is_on_cpu);
}
const char* const names_PJRT_Buffer_ReadyEvent[] = {"buffer", "event"};
[[maybe_unused]] void inputs_PJRT_Buffer_ReadyEvent([[maybe_unused]] const PJRT_Buffer_ReadyEvent_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Buffer_ReadyEvent_Args::buffer)) writer.address(0, args->buffer);
}
[[maybe_unused]] void outputs_PJRT_Buffer_ReadyEvent([[maybe_unused]] const PJRT_Buffer_ReadyEvent_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Buffer_ReadyEvent_Args::event)) writer.address(1, args->event);
}
const char* const names_PJRT_Buffer_UnsafePointer[] = {"buffer", "buffer_pointer"};
[[maybe_unused]] void inputs_PJRT_Buffer_UnsafePointer([[maybe_unused]] const PJRT_Buffer_UnsafePointer_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Buffer_UnsafePointer_Args::buffer)) writer.address(0, args->buffer);
}
[[maybe_unused]] void outputs_PJRT_Buffer_UnsafePointer([[maybe_unused]] const PJRT_Buffer_UnsafePointer_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Buffer_UnsafePointer_Args::buffer_pointer)) writer.integer(1, static_cast<int64_t>(args->buffer_pointer));
}
const char* const names_PJRT_Buffer_IncreaseExternalReferenceCount[] = {"buffer"};
[[maybe_unused]] void inputs_PJRT_Buffer_IncreaseExternalReferenceCount([[maybe_unused]] const PJRT_Buffer_IncreaseExternalReferenceCount_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Buffer_IncreaseExternalReferenceCount_Args::buffer)) writer.address(0, args->buffer);
}
[[maybe_unused]] void outputs_PJRT_Buffer_IncreaseExternalReferenceCount([[maybe_unused]] const PJRT_Buffer_IncreaseExternalReferenceCount_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
}
const char* const names_PJRT_Buffer_DecreaseExternalReferenceCount[] = {"buffer"};
[[maybe_unused]] void inputs_PJRT_Buffer_DecreaseExternalReferenceCount([[maybe_unused]] const PJRT_Buffer_DecreaseExternalReferenceCount_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Buffer_DecreaseExternalReferenceCount_Args::buffer)) writer.address(0, args->buffer);
}
[[maybe_unused]] void outputs_PJRT_Buffer_DecreaseExternalReferenceCount([[maybe_unused]] const PJRT_Buffer_DecreaseExternalReferenceCount_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
}
const char* const names_PJRT_Buffer_OpaqueDeviceMemoryDataPointer[] = {"buffer", "device_memory_ptr"};
[[maybe_unused]] void inputs_PJRT_Buffer_OpaqueDeviceMemoryDataPointer([[maybe_unused]] const PJRT_Buffer_OpaqueDeviceMemoryDataPointer_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Buffer_OpaqueDeviceMemoryDataPointer_Args::buffer)) writer.address(0, args->buffer);
}
[[maybe_unused]] void outputs_PJRT_Buffer_OpaqueDeviceMemoryDataPointer([[maybe_unused]] const PJRT_Buffer_OpaqueDeviceMemoryDataPointer_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Buffer_OpaqueDeviceMemoryDataPointer_Args::device_memory_ptr)) writer.address(1, args->device_memory_ptr);
}
const char* const names_PJRT_CopyToDeviceStream_Destroy[] = {"stream"};
[[maybe_unused]] void inputs_PJRT_CopyToDeviceStream_Destroy([[maybe_unused]] const PJRT_CopyToDeviceStream_Destroy_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_CopyToDeviceStream_Destroy_Args::stream)) writer.address(0, args->stream);
}
[[maybe_unused]] void outputs_PJRT_CopyToDeviceStream_Destroy([[maybe_unused]] const PJRT_CopyToDeviceStream_Destroy_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
}
const char* const names_PJRT_CopyToDeviceStream_AddChunk[] = {"stream", "chunk.data", "chunk.size", "chunk.deleter_arg", "transfer_complete"};
[[maybe_unused]] void inputs_PJRT_CopyToDeviceStream_AddChunk([[maybe_unused]] const PJRT_CopyToDeviceStream_AddChunk_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_CopyToDeviceStream_AddChunk_Args::stream)) writer.address(0, args->stream);
  if (has(args, &PJRT_CopyToDeviceStream_AddChunk_Args::chunk) && args->chunk != nullptr && true) writer.address(1, args->chunk->data);
  if (has(args, &PJRT_CopyToDeviceStream_AddChunk_Args::chunk) && args->chunk != nullptr && true) writer.integer(2, static_cast<int64_t>(args->chunk->size));
  if (has(args, &PJRT_CopyToDeviceStream_AddChunk_Args::chunk) && args->chunk != nullptr && true) writer.address(3, args->chunk->deleter_arg);
}
[[maybe_unused]] void outputs_PJRT_CopyToDeviceStream_AddChunk([[maybe_unused]] const PJRT_CopyToDeviceStream_AddChunk_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_CopyToDeviceStream_AddChunk_Args::transfer_complete)) writer.address(4, args->transfer_complete);
}
const char* const names_PJRT_CopyToDeviceStream_TotalBytes[] = {"stream", "total_bytes"};
[[maybe_unused]] void inputs_PJRT_CopyToDeviceStream_TotalBytes([[maybe_unused]] const PJRT_CopyToDeviceStream_TotalBytes_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_CopyToDeviceStream_TotalBytes_Args::stream)) writer.address(0, args->stream);
}
[[maybe_unused]] void outputs_PJRT_CopyToDeviceStream_TotalBytes([[maybe_unused]] const PJRT_CopyToDeviceStream_TotalBytes_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_CopyToDeviceStream_TotalBytes_Args::total_bytes)) writer.integer(1, args->total_bytes);
}
const char* const names_PJRT_CopyToDeviceStream_GranuleSize[] = {"stream", "granule_size_in_bytes"};
[[maybe_unused]] void inputs_PJRT_CopyToDeviceStream_GranuleSize([[maybe_unused]] const PJRT_CopyToDeviceStream_GranuleSize_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_CopyToDeviceStream_GranuleSize_Args::stream)) writer.address(0, args->stream);
}
[[maybe_unused]] void outputs_PJRT_CopyToDeviceStream_GranuleSize([[maybe_unused]] const PJRT_CopyToDeviceStream_GranuleSize_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_CopyToDeviceStream_GranuleSize_Args::granule_size_in_bytes)) writer.integer(1, args->granule_size_in_bytes);
}
const char* const names_PJRT_CopyToDeviceStream_CurrentBytes[] = {"stream", "current_bytes"};
[[maybe_unused]] void inputs_PJRT_CopyToDeviceStream_CurrentBytes([[maybe_unused]] const PJRT_CopyToDeviceStream_CurrentBytes_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_CopyToDeviceStream_CurrentBytes_Args::stream)) writer.address(0, args->stream);
}
[[maybe_unused]] void outputs_PJRT_CopyToDeviceStream_CurrentBytes([[maybe_unused]] const PJRT_CopyToDeviceStream_CurrentBytes_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_CopyToDeviceStream_CurrentBytes_Args::current_bytes)) writer.integer(1, args->current_bytes);
}
const char* const names_PJRT_TopologyDescription_Create[] = {"topology_name", "create_options", "topology"};
[[maybe_unused]] void inputs_PJRT_TopologyDescription_Create([[maybe_unused]] const PJRT_TopologyDescription_Create_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_TopologyDescription_Create_Args::topology_name)) writer.text_or_size(0, args->topology_name, args->topology_name_size);
  if (has(args, &PJRT_TopologyDescription_Create_Args::create_options)) named_values(writer, 1, args->create_options, args->num_options);
}
[[maybe_unused]] void outputs_PJRT_TopologyDescription_Create([[maybe_unused]] const PJRT_TopologyDescription_Create_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_TopologyDescription_Create_Args::topology)) writer.address(2, args->topology);
}
const char* const names_PJRT_TopologyDescription_Destroy[] = {"topology"};
[[maybe_unused]] void inputs_PJRT_TopologyDescription_Destroy([[maybe_unused]] const PJRT_TopologyDescription_Destroy_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_TopologyDescription_Destroy_Args::topology)) writer.address(0, args->topology);
}
[[maybe_unused]] void outputs_PJRT_TopologyDescription_Destroy([[maybe_unused]] const PJRT_TopologyDescription_Destroy_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
}
const char* const names_PJRT_TopologyDescription_PlatformName[] = {"topology", "platform_name"};
[[maybe_unused]] void inputs_PJRT_TopologyDescription_PlatformName([[maybe_unused]] const PJRT_TopologyDescription_PlatformName_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_TopologyDescription_PlatformName_Args::topology)) writer.address(0, args->topology);
}
[[maybe_unused]] void outputs_PJRT_TopologyDescription_PlatformName([[maybe_unused]] const PJRT_TopologyDescription_PlatformName_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_TopologyDescription_PlatformName_Args::platform_name)) writer.text_or_size(1, args->platform_name, args->platform_name_size);
}
const char* const names_PJRT_TopologyDescription_PlatformVersion[] = {"topology", "platform_version"};
[[maybe_unused]] void inputs_PJRT_TopologyDescription_PlatformVersion([[maybe_unused]] const PJRT_TopologyDescription_PlatformVersion_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_TopologyDescription_PlatformVersion_Args::topology)) writer.address(0, args->topology);
}
[[maybe_unused]] void outputs_PJRT_TopologyDescription_PlatformVersion([[maybe_unused]] const PJRT_TopologyDescription_PlatformVersion_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_TopologyDescription_PlatformVersion_Args::platform_version)) writer.text_or_size(1, args->platform_version, args->platform_version_size);
}
const char* const names_PJRT_TopologyDescription_GetDeviceDescriptions[] = {"topology", "descriptions"};
[[maybe_unused]] void inputs_PJRT_TopologyDescription_GetDeviceDescriptions([[maybe_unused]] const PJRT_TopologyDescription_GetDeviceDescriptions_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_TopologyDescription_GetDeviceDescriptions_Args::topology)) writer.address(0, args->topology);
}
[[maybe_unused]] void outputs_PJRT_TopologyDescription_GetDeviceDescriptions([[maybe_unused]] const PJRT_TopologyDescription_GetDeviceDescriptions_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_TopologyDescription_GetDeviceDescriptions_Args::descriptions)) writer.addresses(1, reinterpret_cast<const void* const*>(args->descriptions), args->num_descriptions);
}
const char* const names_PJRT_TopologyDescription_Serialize[] = {"topology", "serialized_bytes", "serialized_topology"};
[[maybe_unused]] void inputs_PJRT_TopologyDescription_Serialize([[maybe_unused]] const PJRT_TopologyDescription_Serialize_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_TopologyDescription_Serialize_Args::topology)) writer.address(0, args->topology);
}
[[maybe_unused]] void outputs_PJRT_TopologyDescription_Serialize([[maybe_unused]] const PJRT_TopologyDescription_Serialize_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_TopologyDescription_Serialize_Args::serialized_bytes)) writer.text_or_size(1, args->serialized_bytes, args->serialized_bytes_size);
  if (has(args, &PJRT_TopologyDescription_Serialize_Args::serialized_topology)) writer.address(2, args->serialized_topology);
}
const char* const names_PJRT_TopologyDescription_Attributes[] = {"topology", "attributes"};
[[maybe_unused]] void inputs_PJRT_TopologyDescription_Attributes([[maybe_unused]] const PJRT_TopologyDescription_Attributes_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_TopologyDescription_Attributes_Args::topology)) writer.address(0, args->topology);
}
[[maybe_unused]] void outputs_PJRT_TopologyDescription_Attributes([[maybe_unused]] const PJRT_TopologyDescription_Attributes_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_TopologyDescription_Attributes_Args::attributes)) named_values(writer, 1, args->attributes, args->num_attributes);
}
const char* const names_PJRT_Compile[] = {"topology", "program.code", "program.format", "compile_options", "client", "executable"};
[[maybe_unused]] void inputs_PJRT_Compile([[maybe_unused]] const PJRT_Compile_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Compile_Args::topology)) writer.address(0, args->topology);
  if (has(args, &PJRT_Compile_Args::program) && args->program != nullptr && has(args->program, &PJRT_Program::code)) writer.text_or_size(1, args->program->code, args->program->code_size);
  if (has(args, &PJRT_Compile_Args::program) && args->program != nullptr && has(args->program, &PJRT_Program::format)) writer.text_or_size(2, args->program->format, args->program->format_size);
  if (has(args, &PJRT_Compile_Args::compile_options)) writer.text_or_size(3, args->compile_options, args->compile_options_size);
  if (has(args, &PJRT_Compile_Args::client)) writer.address(4, args->client);
}
[[maybe_unused]] void outputs_PJRT_Compile([[maybe_unused]] const PJRT_Compile_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Compile_Args::executable)) writer.address(5, args->executable);
}
const char* const names_PJRT_Executable_OutputElementTypes[] = {"executable", "output_types"};
[[maybe_unused]] void inputs_PJRT_Executable_OutputElementTypes([[maybe_unused]] const PJRT_Executable_OutputElementTypes_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Executable_OutputElementTypes_Args::executable)) writer.address(0, args->executable);
}
[[maybe_unused]] void outputs_PJRT_Executable_OutputElementTypes([[maybe_unused]] const PJRT_Executable_OutputElementTypes_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Executable_OutputElementTypes_Args::output_types)) writer.integers(1, args->output_types, args->num_output_types);
}
const char* const names_PJRT_Executable_OutputDimensions[] = {"executable", "num_outputs", "dims", "dim_sizes"};
[[maybe_unused]] void inputs_PJRT_Executable_OutputDimensions([[maybe_unused]] const PJRT_Executable_OutputDimensions_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Executable_OutputDimensions_Args::executable)) writer.address(0, args->executable);
  if (has(args, &PJRT_Executable_OutputDimensions_Args::num_outputs)) writer.integer(1, static_cast<int64_t>(args->num_outputs));
}
[[maybe_unused]] void outputs_PJRT_Executable_OutputDimensions([[maybe_unused]] const PJRT_Executable_OutputDimensions_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Executable_OutputDimensions_Args::dims)) writer.address(2, args->dims);
  if (has(args, &PJRT_Executable_OutputDimensions_Args::dim_sizes)) writer.address(3, args->dim_sizes);
}
const char* const names_PJRT_Buffer_CopyToMemory[] = {"buffer", "dst_memory", "dst_buffer"};
[[maybe_unused]] void inputs_PJRT_Buffer_CopyToMemory([[maybe_unused]] const PJRT_Buffer_CopyToMemory_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Buffer_CopyToMemory_Args::buffer)) writer.address(0, args->buffer);
  if (has(args, &PJRT_Buffer_CopyToMemory_Args::dst_memory)) writer.address(1, args->dst_memory);
}
[[maybe_unused]] void outputs_PJRT_Buffer_CopyToMemory([[maybe_unused]] const PJRT_Buffer_CopyToMemory_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Buffer_CopyToMemory_Args::dst_buffer)) writer.address(2, args->dst_buffer);
}
const char* const names_PJRT_Client_CreateViewOfDeviceBuffer[] = {"client", "device_buffer_ptr", "dims", "element_type", "layout.type", "device", "on_delete_callback_arg", "stream", "buffer", "memory", "bytes"};
[[maybe_unused]] void inputs_PJRT_Client_CreateViewOfDeviceBuffer([[maybe_unused]] const PJRT_Client_CreateViewOfDeviceBuffer_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Client_CreateViewOfDeviceBuffer_Args::client)) writer.address(0, args->client);
  if (has(args, &PJRT_Client_CreateViewOfDeviceBuffer_Args::device_buffer_ptr)) writer.address(1, args->device_buffer_ptr);
  if (has(args, &PJRT_Client_CreateViewOfDeviceBuffer_Args::dims)) writer.integers(2, args->dims, args->num_dims);
  if (has(args, &PJRT_Client_CreateViewOfDeviceBuffer_Args::element_type)) enumeration(writer, 3, args->element_type);
  if (has(args, &PJRT_Client_CreateViewOfDeviceBuffer_Args::layout) && args->layout != nullptr && has(args->layout, &PJRT_Buffer_MemoryLayout::type)) enumeration(writer, 4, args->layout->type);
  if (has(args, &PJRT_Client_CreateViewOfDeviceBuffer_Args::device)) writer.address(5, args->device);
  if (has(args, &PJRT_Client_CreateViewOfDeviceBuffer_Args::on_delete_callback_arg)) writer.address(6, args->on_delete_callback_arg);
  if (has(args, &PJRT_Client_CreateViewOfDeviceBuffer_Args::stream)) writer.integer(7, args->stream);
  if (has(args, &PJRT_Client_CreateViewOfDeviceBuffer_Args::memory)) writer.address(9, args->memory);
  if (true) writer.integer(10, dense_bytes(args->element_type, args->dims, args->num_dims));
}
[[maybe_unused]] void outputs_PJRT_Client_CreateViewOfDeviceBuffer([[maybe_unused]] const PJRT_Client_CreateViewOfDeviceBuffer_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Client_CreateViewOfDeviceBuffer_Args::buffer)) writer.address(8, args->buffer);
}
const char* const names_PJRT_Executable_Fingerprint[] = {"executable", "executable_fingerprint"};
[[maybe_unused]] void inputs_PJRT_Executable_Fingerprint([[maybe_unused]] const PJRT_Executable_Fingerprint_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Executable_Fingerprint_Args::executable)) writer.address(0, args->executable);
}
[[maybe_unused]] void outputs_PJRT_Executable_Fingerprint([[maybe_unused]] const PJRT_Executable_Fingerprint_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Executable_Fingerprint_Args::executable_fingerprint)) writer.text_or_size(1, args->executable_fingerprint, args->executable_fingerprint_size);
}
const char* const names_PJRT_Client_TopologyDescription[] = {"client", "topology"};
[[maybe_unused]] void inputs_PJRT_Client_TopologyDescription([[maybe_unused]] const PJRT_Client_TopologyDescription_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Client_TopologyDescription_Args::client)) writer.address(0, args->client);
}
[[maybe_unused]] void outputs_PJRT_Client_TopologyDescription([[maybe_unused]] const PJRT_Client_TopologyDescription_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Client_TopologyDescription_Args::topology)) writer.address(1, args->topology);
}
const char* const names_PJRT_Executable_GetCompiledMemoryStats[] = {"executable", "generated_code_size_in_bytes", "argument_size_in_bytes", "output_size_in_bytes", "alias_size_in_bytes", "temp_size_in_bytes", "host_generated_code_size_in_bytes", "host_argument_size_in_bytes", "host_output_size_in_bytes", "host_alias_size_in_bytes", "host_temp_size_in_bytes", "peak_memory_in_bytes", "total_size_in_bytes", "total_allocation_bytes", "indefinite_allocations", "peak_unpadded_heap_bytes"};
[[maybe_unused]] void inputs_PJRT_Executable_GetCompiledMemoryStats([[maybe_unused]] const PJRT_Executable_GetCompiledMemoryStats_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Executable_GetCompiledMemoryStats_Args::executable)) writer.address(0, args->executable);
}
[[maybe_unused]] void outputs_PJRT_Executable_GetCompiledMemoryStats([[maybe_unused]] const PJRT_Executable_GetCompiledMemoryStats_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Executable_GetCompiledMemoryStats_Args::generated_code_size_in_bytes)) writer.integer(1, args->generated_code_size_in_bytes);
  if (has(args, &PJRT_Executable_GetCompiledMemoryStats_Args::argument_size_in_bytes)) writer.integer(2, args->argument_size_in_bytes);
  if (has(args, &PJRT_Executable_GetCompiledMemoryStats_Args::output_size_in_bytes)) writer.integer(3, args->output_size_in_bytes);
  if (has(args, &PJRT_Executable_GetCompiledMemoryStats_Args::alias_size_in_bytes)) writer.integer(4, args->alias_size_in_bytes);
  if (has(args, &PJRT_Executable_GetCompiledMemoryStats_Args::temp_size_in_bytes)) writer.integer(5, args->temp_size_in_bytes);
  if (has(args, &PJRT_Executable_GetCompiledMemoryStats_Args::host_generated_code_size_in_bytes)) writer.integer(6, args->host_generated_code_size_in_bytes);
  if (has(args, &PJRT_Executable_GetCompiledMemoryStats_Args::host_argument_size_in_bytes)) writer.integer(7, args->host_argument_size_in_bytes);
  if (has(args, &PJRT_Executable_GetCompiledMemoryStats_Args::host_output_size_in_bytes)) writer.integer(8, args->host_output_size_in_bytes);
  if (has(args, &PJRT_Executable_GetCompiledMemoryStats_Args::host_alias_size_in_bytes)) writer.integer(9, args->host_alias_size_in_bytes);
  if (has(args, &PJRT_Executable_GetCompiledMemoryStats_Args::host_temp_size_in_bytes)) writer.integer(10, args->host_temp_size_in_bytes);
  if (has(args, &PJRT_Executable_GetCompiledMemoryStats_Args::peak_memory_in_bytes)) writer.integer(11, args->peak_memory_in_bytes);
  if (has(args, &PJRT_Executable_GetCompiledMemoryStats_Args::total_size_in_bytes)) writer.integer(12, args->total_size_in_bytes);
  if (has(args, &PJRT_Executable_GetCompiledMemoryStats_Args::total_allocation_bytes)) writer.integer(13, args->total_allocation_bytes);
  if (has(args, &PJRT_Executable_GetCompiledMemoryStats_Args::indefinite_allocations)) writer.integer(14, args->indefinite_allocations);
  if (has(args, &PJRT_Executable_GetCompiledMemoryStats_Args::peak_unpadded_heap_bytes)) writer.integer(15, args->peak_unpadded_heap_bytes);
}
const char* const names_PJRT_Memory_Kind_Id[] = {"memory", "kind_id"};
[[maybe_unused]] void inputs_PJRT_Memory_Kind_Id([[maybe_unused]] const PJRT_Memory_Kind_Id_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Memory_Kind_Id_Args::memory)) writer.address(0, args->memory);
}
[[maybe_unused]] void outputs_PJRT_Memory_Kind_Id([[maybe_unused]] const PJRT_Memory_Kind_Id_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Memory_Kind_Id_Args::kind_id)) writer.integer(1, args->kind_id);
}
const char* const names_PJRT_ExecuteContext_Create[] = {"context"};
[[maybe_unused]] void inputs_PJRT_ExecuteContext_Create([[maybe_unused]] const PJRT_ExecuteContext_Create_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
}
[[maybe_unused]] void outputs_PJRT_ExecuteContext_Create([[maybe_unused]] const PJRT_ExecuteContext_Create_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_ExecuteContext_Create_Args::context)) writer.address(0, args->context);
}
const char* const names_PJRT_ExecuteContext_Destroy[] = {"context"};
[[maybe_unused]] void inputs_PJRT_ExecuteContext_Destroy([[maybe_unused]] const PJRT_ExecuteContext_Destroy_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_ExecuteContext_Destroy_Args::context)) writer.address(0, args->context);
}
[[maybe_unused]] void outputs_PJRT_ExecuteContext_Destroy([[maybe_unused]] const PJRT_ExecuteContext_Destroy_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
}
const char* const names_PJRT_Buffer_CopyRawToHost[] = {"buffer", "dst", "offset", "transfer_size", "event"};
[[maybe_unused]] void inputs_PJRT_Buffer_CopyRawToHost([[maybe_unused]] const PJRT_Buffer_CopyRawToHost_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Buffer_CopyRawToHost_Args::buffer)) writer.address(0, args->buffer);
  if (has(args, &PJRT_Buffer_CopyRawToHost_Args::dst)) writer.address(1, args->dst);
  if (has(args, &PJRT_Buffer_CopyRawToHost_Args::offset)) writer.integer(2, args->offset);
  if (has(args, &PJRT_Buffer_CopyRawToHost_Args::transfer_size)) writer.integer(3, args->transfer_size);
}
[[maybe_unused]] void outputs_PJRT_Buffer_CopyRawToHost([[maybe_unused]] const PJRT_Buffer_CopyRawToHost_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Buffer_CopyRawToHost_Args::event)) writer.address(4, args->event);
}
const char* const names_PJRT_AsyncHostToDeviceTransferManager_Destroy[] = {"transfer_manager"};
[[maybe_unused]] void inputs_PJRT_AsyncHostToDeviceTransferManager_Destroy([[maybe_unused]] const PJRT_AsyncHostToDeviceTransferManager_Destroy_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_AsyncHostToDeviceTransferManager_Destroy_Args::transfer_manager)) writer.address(0, args->transfer_manager);
}
[[maybe_unused]] void outputs_PJRT_AsyncHostToDeviceTransferManager_Destroy([[maybe_unused]] const PJRT_AsyncHostToDeviceTransferManager_Destroy_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
}
const char* const names_PJRT_AsyncHostToDeviceTransferManager_TransferData[] = {"transfer_manager", "buffer_index", "data", "offset", "transfer_size", "is_last_transfer", "done_with_h2d_transfer"};
[[maybe_unused]] void inputs_PJRT_AsyncHostToDeviceTransferManager_TransferData([[maybe_unused]] const PJRT_AsyncHostToDeviceTransferManager_TransferData_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_AsyncHostToDeviceTransferManager_TransferData_Args::transfer_manager)) writer.address(0, args->transfer_manager);
  if (has(args, &PJRT_AsyncHostToDeviceTransferManager_TransferData_Args::buffer_index)) writer.integer(1, args->buffer_index);
  if (has(args, &PJRT_AsyncHostToDeviceTransferManager_TransferData_Args::data)) writer.address(2, args->data);
  if (has(args, &PJRT_AsyncHostToDeviceTransferManager_TransferData_Args::offset)) writer.integer(3, args->offset);
  if (has(args, &PJRT_AsyncHostToDeviceTransferManager_TransferData_Args::transfer_size)) writer.integer(4, args->transfer_size);
  if (has(args, &PJRT_AsyncHostToDeviceTransferManager_TransferData_Args::is_last_transfer)) writer.boolean(5, args->is_last_transfer);
}
[[maybe_unused]] void outputs_PJRT_AsyncHostToDeviceTransferManager_TransferData([[maybe_unused]] const PJRT_AsyncHostToDeviceTransferManager_TransferData_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_AsyncHostToDeviceTransferManager_TransferData_Args::done_with_h2d_transfer)) writer.address(6, args->done_with_h2d_transfer);
}
const char* const names_PJRT_Client_CreateBuffersForAsyncHostToDevice[] = {"client", "shape_specs.dims", "shape_specs.element_type", "shape_specs.bytes", "device_layouts", "memory", "transfer_manager"};
[[maybe_unused]] void inputs_PJRT_Client_CreateBuffersForAsyncHostToDevice([[maybe_unused]] const PJRT_Client_CreateBuffersForAsyncHostToDevice_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Client_CreateBuffersForAsyncHostToDevice_Args::client)) writer.address(0, args->client);
  if (has(args, &PJRT_Client_CreateBuffersForAsyncHostToDevice_Args::shape_specs) && args->shape_specs != nullptr && has(args->shape_specs, &PJRT_ShapeSpec::dims)) writer.integers(1, args->shape_specs->dims, args->shape_specs->num_dims);
  if (has(args, &PJRT_Client_CreateBuffersForAsyncHostToDevice_Args::shape_specs) && args->shape_specs != nullptr && has(args->shape_specs, &PJRT_ShapeSpec::element_type)) enumeration(writer, 2, args->shape_specs->element_type);
  if (has(args, &PJRT_Client_CreateBuffersForAsyncHostToDevice_Args::shape_specs) && args->shape_specs != nullptr) writer.integer(3, dense_bytes(args->shape_specs->element_type, args->shape_specs->dims, args->shape_specs->num_dims));
  if (has(args, &PJRT_Client_CreateBuffersForAsyncHostToDevice_Args::device_layouts)) writer.addresses(4, reinterpret_cast<const void* const*>(args->device_layouts), args->num_device_layouts);
  if (has(args, &PJRT_Client_CreateBuffersForAsyncHostToDevice_Args::memory)) writer.address(5, args->memory);
}
[[maybe_unused]] void outputs_PJRT_Client_CreateBuffersForAsyncHostToDevice([[maybe_unused]] const PJRT_Client_CreateBuffersForAsyncHostToDevice_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Client_CreateBuffersForAsyncHostToDevice_Args::transfer_manager)) writer.address(6, args->transfer_manager);
}
const char* const names_PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer[] = {"transfer_manager", "buffer_index", "buffer_out"};
[[maybe_unused]] void inputs_PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer([[maybe_unused]] const PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer_Args::transfer_manager)) writer.address(0, args->transfer_manager);
  if (has(args, &PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer_Args::buffer_index)) writer.integer(1, args->buffer_index);
}
[[maybe_unused]] void outputs_PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer([[maybe_unused]] const PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer_Args::buffer_out)) writer.address(2, args->buffer_out);
}
const char* const names_PJRT_AsyncHostToDeviceTransferManager_Device[] = {"transfer_manager", "device_out"};
[[maybe_unused]] void inputs_PJRT_AsyncHostToDeviceTransferManager_Device([[maybe_unused]] const PJRT_AsyncHostToDeviceTransferManager_Device_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_AsyncHostToDeviceTransferManager_Device_Args::transfer_manager)) writer.address(0, args->transfer_manager);
}
[[maybe_unused]] void outputs_PJRT_AsyncHostToDeviceTransferManager_Device([[maybe_unused]] const PJRT_AsyncHostToDeviceTransferManager_Device_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_AsyncHostToDeviceTransferManager_Device_Args::device_out)) writer.address(1, args->device_out);
}
const char* const names_PJRT_AsyncHostToDeviceTransferManager_BufferCount[] = {"transfer_manager", "buffer_count"};
[[maybe_unused]] void inputs_PJRT_AsyncHostToDeviceTransferManager_BufferCount([[maybe_unused]] const PJRT_AsyncHostToDeviceTransferManager_BufferCount_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_AsyncHostToDeviceTransferManager_BufferCount_Args::transfer_manager)) writer.address(0, args->transfer_manager);
}
[[maybe_unused]] void outputs_PJRT_AsyncHostToDeviceTransferManager_BufferCount([[maybe_unused]] const PJRT_AsyncHostToDeviceTransferManager_BufferCount_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_AsyncHostToDeviceTransferManager_BufferCount_Args::buffer_count)) writer.integer(1, static_cast<int64_t>(args->buffer_count));
}
const char* const names_PJRT_AsyncHostToDeviceTransferManager_BufferSize[] = {"transfer_manager", "buffer_index", "buffer_size"};
[[maybe_unused]] void inputs_PJRT_AsyncHostToDeviceTransferManager_BufferSize([[maybe_unused]] const PJRT_AsyncHostToDeviceTransferManager_BufferSize_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_AsyncHostToDeviceTransferManager_BufferSize_Args::transfer_manager)) writer.address(0, args->transfer_manager);
  if (has(args, &PJRT_AsyncHostToDeviceTransferManager_BufferSize_Args::buffer_index)) writer.integer(1, args->buffer_index);
}
[[maybe_unused]] void outputs_PJRT_AsyncHostToDeviceTransferManager_BufferSize([[maybe_unused]] const PJRT_AsyncHostToDeviceTransferManager_BufferSize_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_AsyncHostToDeviceTransferManager_BufferSize_Args::buffer_size)) writer.integer(2, static_cast<int64_t>(args->buffer_size));
}
const char* const names_PJRT_AsyncHostToDeviceTransferManager_SetBufferError[] = {"transfer_manager", "buffer_index", "error_code", "error_message"};
[[maybe_unused]] void inputs_PJRT_AsyncHostToDeviceTransferManager_SetBufferError([[maybe_unused]] const PJRT_AsyncHostToDeviceTransferManager_SetBufferError_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_AsyncHostToDeviceTransferManager_SetBufferError_Args::transfer_manager)) writer.address(0, args->transfer_manager);
  if (has(args, &PJRT_AsyncHostToDeviceTransferManager_SetBufferError_Args::buffer_index)) writer.integer(1, args->buffer_index);
  if (has(args, &PJRT_AsyncHostToDeviceTransferManager_SetBufferError_Args::error_code)) enumeration(writer, 2, args->error_code);
  if (has(args, &PJRT_AsyncHostToDeviceTransferManager_SetBufferError_Args::error_message)) writer.text_or_size(3, args->error_message, args->error_message_size);
}
[[maybe_unused]] void outputs_PJRT_AsyncHostToDeviceTransferManager_SetBufferError([[maybe_unused]] const PJRT_AsyncHostToDeviceTransferManager_SetBufferError_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
}
const char* const names_PJRT_AsyncHostToDeviceTransferManager_AddMetadata[] = {"transfer_manager", "transfer_metadata"};
[[maybe_unused]] void inputs_PJRT_AsyncHostToDeviceTransferManager_AddMetadata([[maybe_unused]] const PJRT_AsyncHostToDeviceTransferManager_AddMetadata_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_AsyncHostToDeviceTransferManager_AddMetadata_Args::transfer_manager)) writer.address(0, args->transfer_manager);
  if (has(args, &PJRT_AsyncHostToDeviceTransferManager_AddMetadata_Args::transfer_metadata)) named_values(writer, 1, args->transfer_metadata, args->num_metadata);
}
[[maybe_unused]] void outputs_PJRT_AsyncHostToDeviceTransferManager_AddMetadata([[maybe_unused]] const PJRT_AsyncHostToDeviceTransferManager_AddMetadata_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
}
const char* const names_PJRT_Client_DmaMap[] = {"client", "data", "size"};
[[maybe_unused]] void inputs_PJRT_Client_DmaMap([[maybe_unused]] const PJRT_Client_DmaMap_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Client_DmaMap_Args::client)) writer.address(0, args->client);
  if (has(args, &PJRT_Client_DmaMap_Args::data)) writer.address(1, args->data);
  if (has(args, &PJRT_Client_DmaMap_Args::size)) writer.integer(2, static_cast<int64_t>(args->size));
}
[[maybe_unused]] void outputs_PJRT_Client_DmaMap([[maybe_unused]] const PJRT_Client_DmaMap_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
}
const char* const names_PJRT_Client_DmaUnmap[] = {"client", "data"};
[[maybe_unused]] void inputs_PJRT_Client_DmaUnmap([[maybe_unused]] const PJRT_Client_DmaUnmap_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Client_DmaUnmap_Args::client)) writer.address(0, args->client);
  if (has(args, &PJRT_Client_DmaUnmap_Args::data)) writer.address(1, args->data);
}
[[maybe_unused]] void outputs_PJRT_Client_DmaUnmap([[maybe_unused]] const PJRT_Client_DmaUnmap_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
}
const char* const names_PJRT_Client_CreateUninitializedBuffer[] = {"client", "shape_dims", "shape_element_type", "shape_layout.type", "device", "memory", "buffer"};
[[maybe_unused]] void inputs_PJRT_Client_CreateUninitializedBuffer([[maybe_unused]] const PJRT_Client_CreateUninitializedBuffer_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Client_CreateUninitializedBuffer_Args::client)) writer.address(0, args->client);
  if (has(args, &PJRT_Client_CreateUninitializedBuffer_Args::shape_dims)) writer.integers(1, args->shape_dims, args->shape_num_dims);
  if (has(args, &PJRT_Client_CreateUninitializedBuffer_Args::shape_element_type)) enumeration(writer, 2, args->shape_element_type);
  if (has(args, &PJRT_Client_CreateUninitializedBuffer_Args::shape_layout) && args->shape_layout != nullptr && has(args->shape_layout, &PJRT_Buffer_MemoryLayout::type)) enumeration(writer, 3, args->shape_layout->type);
  if (has(args, &PJRT_Client_CreateUninitializedBuffer_Args::device)) writer.address(4, args->device);
  if (has(args, &PJRT_Client_CreateUninitializedBuffer_Args::memory)) writer.address(5, args->memory);
}
[[maybe_unused]] void outputs_PJRT_Client_CreateUninitializedBuffer([[maybe_unused]] const PJRT_Client_CreateUninitializedBuffer_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Client_CreateUninitializedBuffer_Args::buffer)) writer.address(6, args->buffer);
}
const char* const names_PJRT_Client_UpdateGlobalProcessInfo[] = {"client", "process_infos.task_id", "process_infos.incarnation_id", "process_infos.state", "process_infos.error_code", "process_infos.error_message"};
[[maybe_unused]] void inputs_PJRT_Client_UpdateGlobalProcessInfo([[maybe_unused]] const PJRT_Client_UpdateGlobalProcessInfo_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Client_UpdateGlobalProcessInfo_Args::client)) writer.address(0, args->client);
  if (has(args, &PJRT_Client_UpdateGlobalProcessInfo_Args::process_infos) && args->process_infos != nullptr && has(args->process_infos, &PJRT_ProcessInfo::task_id)) writer.integer(1, args->process_infos->task_id);
  if (has(args, &PJRT_Client_UpdateGlobalProcessInfo_Args::process_infos) && args->process_infos != nullptr && has(args->process_infos, &PJRT_ProcessInfo::incarnation_id)) writer.integer(2, static_cast<int64_t>(args->process_infos->incarnation_id));
  if (has(args, &PJRT_Client_UpdateGlobalProcessInfo_Args::process_infos) && args->process_infos != nullptr && has(args->process_infos, &PJRT_ProcessInfo::state)) enumeration(writer, 3, args->process_infos->state);
  if (has(args, &PJRT_Client_UpdateGlobalProcessInfo_Args::process_infos) && args->process_infos != nullptr && has(args->process_infos, &PJRT_ProcessInfo::error_code)) writer.integer(4, args->process_infos->error_code);
  if (has(args, &PJRT_Client_UpdateGlobalProcessInfo_Args::process_infos) && args->process_infos != nullptr && has(args->process_infos, &PJRT_ProcessInfo::error_message)) writer.text_or_size(5, args->process_infos->error_message, args->process_infos->error_message_size);
}
[[maybe_unused]] void outputs_PJRT_Client_UpdateGlobalProcessInfo([[maybe_unused]] const PJRT_Client_UpdateGlobalProcessInfo_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
}
const char* const names_PJRT_TopologyDescription_Deserialize[] = {"serialized_topology", "topology"};
[[maybe_unused]] void inputs_PJRT_TopologyDescription_Deserialize([[maybe_unused]] const PJRT_TopologyDescription_Deserialize_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_TopologyDescription_Deserialize_Args::serialized_topology)) writer.text_or_size(0, args->serialized_topology, args->serialized_topology_size);
}
[[maybe_unused]] void outputs_PJRT_TopologyDescription_Deserialize([[maybe_unused]] const PJRT_TopologyDescription_Deserialize_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_TopologyDescription_Deserialize_Args::topology)) writer.address(1, args->topology);
}
const char* const names_PJRT_Client_CreateAliasBuffer[] = {"client", "memory", "shape_dims", "shape_element_type", "shape_layout.type", "alias_buffer", "fulfill_alias_buffer_cb"};
[[maybe_unused]] void inputs_PJRT_Client_CreateAliasBuffer([[maybe_unused]] const PJRT_Client_CreateAliasBuffer_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Client_CreateAliasBuffer_Args::client)) writer.address(0, args->client);
  if (has(args, &PJRT_Client_CreateAliasBuffer_Args::memory)) writer.address(1, args->memory);
  if (has(args, &PJRT_Client_CreateAliasBuffer_Args::shape_dims)) writer.integers(2, args->shape_dims, args->shape_num_dims);
  if (has(args, &PJRT_Client_CreateAliasBuffer_Args::shape_element_type)) enumeration(writer, 3, args->shape_element_type);
  if (has(args, &PJRT_Client_CreateAliasBuffer_Args::shape_layout) && args->shape_layout != nullptr && has(args->shape_layout, &PJRT_Buffer_MemoryLayout::type)) enumeration(writer, 4, args->shape_layout->type);
}
[[maybe_unused]] void outputs_PJRT_Client_CreateAliasBuffer([[maybe_unused]] const PJRT_Client_CreateAliasBuffer_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Client_CreateAliasBuffer_Args::alias_buffer)) writer.address(5, args->alias_buffer);
  if (has(args, &PJRT_Client_CreateAliasBuffer_Args::fulfill_alias_buffer_cb)) writer.address(6, args->fulfill_alias_buffer_cb);
}
const char* const names_PJRT_Client_FulfillAliasBuffer[] = {"client", "buffer", "status_code", "error_message", "fulfill_alias_buffer_cb"};
[[maybe_unused]] void inputs_PJRT_Client_FulfillAliasBuffer([[maybe_unused]] const PJRT_Client_FulfillAliasBuffer_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Client_FulfillAliasBuffer_Args::client)) writer.address(0, args->client);
  if (has(args, &PJRT_Client_FulfillAliasBuffer_Args::buffer)) writer.address(1, args->buffer);
  if (has(args, &PJRT_Client_FulfillAliasBuffer_Args::status_code)) enumeration(writer, 2, args->status_code);
  if (has(args, &PJRT_Client_FulfillAliasBuffer_Args::error_message)) writer.text_or_size(3, args->error_message, args->error_message_size);
  if (has(args, &PJRT_Client_FulfillAliasBuffer_Args::fulfill_alias_buffer_cb)) writer.address(4, args->fulfill_alias_buffer_cb);
}
[[maybe_unused]] void outputs_PJRT_Client_FulfillAliasBuffer([[maybe_unused]] const PJRT_Client_FulfillAliasBuffer_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
}
const char* const names_PJRT_LoadedExecutable_GetDeviceAssignment[] = {"executable", "serialized_bytes", "serialized_device_assignment"};
[[maybe_unused]] void inputs_PJRT_LoadedExecutable_GetDeviceAssignment([[maybe_unused]] const PJRT_LoadedExecutable_GetDeviceAssignment_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_LoadedExecutable_GetDeviceAssignment_Args::executable)) writer.address(0, args->executable);
  if (has(args, &PJRT_LoadedExecutable_GetDeviceAssignment_Args::serialized_device_assignment)) writer.address(2, args->serialized_device_assignment);
}
[[maybe_unused]] void outputs_PJRT_LoadedExecutable_GetDeviceAssignment([[maybe_unused]] const PJRT_LoadedExecutable_GetDeviceAssignment_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_LoadedExecutable_GetDeviceAssignment_Args::serialized_bytes)) writer.text_or_size(1, args->serialized_bytes, args->serialized_bytes_size);
}
const char* const names_PJRT_Client_CreateErrorBuffer[] = {"client", "error_code", "error_message", "shape_dims", "shape_element_type", "shape_layout.type", "memory", "buffer", "payload"};
[[maybe_unused]] void inputs_PJRT_Client_CreateErrorBuffer([[maybe_unused]] const PJRT_Client_CreateErrorBuffer_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Client_CreateErrorBuffer_Args::client)) writer.address(0, args->client);
  if (has(args, &PJRT_Client_CreateErrorBuffer_Args::error_code)) enumeration(writer, 1, args->error_code);
  if (has(args, &PJRT_Client_CreateErrorBuffer_Args::error_message)) writer.text_or_size(2, args->error_message, args->error_message_size);
  if (has(args, &PJRT_Client_CreateErrorBuffer_Args::shape_dims)) writer.integers(3, args->shape_dims, args->shape_num_dims);
  if (has(args, &PJRT_Client_CreateErrorBuffer_Args::shape_element_type)) enumeration(writer, 4, args->shape_element_type);
  if (has(args, &PJRT_Client_CreateErrorBuffer_Args::shape_layout) && args->shape_layout != nullptr && has(args->shape_layout, &PJRT_Buffer_MemoryLayout::type)) enumeration(writer, 5, args->shape_layout->type);
  if (has(args, &PJRT_Client_CreateErrorBuffer_Args::memory)) writer.address(6, args->memory);
  if (has(args, &PJRT_Client_CreateErrorBuffer_Args::payload)) named_values(writer, 8, args->payload, args->num_payload);
}
[[maybe_unused]] void outputs_PJRT_Client_CreateErrorBuffer([[maybe_unused]] const PJRT_Client_CreateErrorBuffer_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Client_CreateErrorBuffer_Args::buffer)) writer.address(7, args->buffer);
}
const char* const names_PJRT_AsyncHostToDeviceTransferManager_TransferLiteral[] = {"transfer_manager", "buffer_index", "data", "shape_dims", "shape_element_type", "shape_layout.type", "done_with_h2d_transfer"};
[[maybe_unused]] void inputs_PJRT_AsyncHostToDeviceTransferManager_TransferLiteral([[maybe_unused]] const PJRT_AsyncHostToDeviceTransferManager_TransferLiteral_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_AsyncHostToDeviceTransferManager_TransferLiteral_Args::transfer_manager)) writer.address(0, args->transfer_manager);
  if (has(args, &PJRT_AsyncHostToDeviceTransferManager_TransferLiteral_Args::buffer_index)) writer.integer(1, args->buffer_index);
  if (has(args, &PJRT_AsyncHostToDeviceTransferManager_TransferLiteral_Args::data)) writer.address(2, args->data);
  if (has(args, &PJRT_AsyncHostToDeviceTransferManager_TransferLiteral_Args::shape_dims)) writer.integers(3, args->shape_dims, args->shape_num_dims);
  if (has(args, &PJRT_AsyncHostToDeviceTransferManager_TransferLiteral_Args::shape_element_type)) enumeration(writer, 4, args->shape_element_type);
  if (has(args, &PJRT_AsyncHostToDeviceTransferManager_TransferLiteral_Args::shape_layout) && args->shape_layout != nullptr && has(args->shape_layout, &PJRT_Buffer_MemoryLayout::type)) enumeration(writer, 5, args->shape_layout->type);
}
[[maybe_unused]] void outputs_PJRT_AsyncHostToDeviceTransferManager_TransferLiteral([[maybe_unused]] const PJRT_AsyncHostToDeviceTransferManager_TransferLiteral_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_AsyncHostToDeviceTransferManager_TransferLiteral_Args::done_with_h2d_transfer)) writer.address(6, args->done_with_h2d_transfer);
}
const char* const names_PJRT_Buffer_CopyRawToHostFuture[] = {"buffer", "offset", "transfer_size", "event", "callback_data"};
[[maybe_unused]] void inputs_PJRT_Buffer_CopyRawToHostFuture([[maybe_unused]] const PJRT_Buffer_CopyRawToHostFuture_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Buffer_CopyRawToHostFuture_Args::buffer)) writer.address(0, args->buffer);
  if (has(args, &PJRT_Buffer_CopyRawToHostFuture_Args::offset)) writer.integer(1, args->offset);
  if (has(args, &PJRT_Buffer_CopyRawToHostFuture_Args::transfer_size)) writer.integer(2, args->transfer_size);
}
[[maybe_unused]] void outputs_PJRT_Buffer_CopyRawToHostFuture([[maybe_unused]] const PJRT_Buffer_CopyRawToHostFuture_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Buffer_CopyRawToHostFuture_Args::event)) writer.address(3, args->event);
  if (has(args, &PJRT_Buffer_CopyRawToHostFuture_Args::callback_data)) writer.address(4, args->callback_data);
}
const char* const names_PJRT_Device_PoisonExecution[] = {"device", "launch_id", "error_code", "error_message", "poisoned", "payload"};
[[maybe_unused]] void inputs_PJRT_Device_PoisonExecution([[maybe_unused]] const PJRT_Device_PoisonExecution_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Device_PoisonExecution_Args::device)) writer.address(0, args->device);
  if (has(args, &PJRT_Device_PoisonExecution_Args::launch_id)) writer.integer(1, args->launch_id);
  if (has(args, &PJRT_Device_PoisonExecution_Args::error_code)) enumeration(writer, 2, args->error_code);
  if (has(args, &PJRT_Device_PoisonExecution_Args::error_message)) writer.text_or_size(3, args->error_message, args->error_message_size);
  if (has(args, &PJRT_Device_PoisonExecution_Args::payload)) named_values(writer, 5, args->payload, args->num_payload);
}
[[maybe_unused]] void outputs_PJRT_Device_PoisonExecution([[maybe_unused]] const PJRT_Device_PoisonExecution_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Device_PoisonExecution_Args::poisoned)) writer.boolean(4, args->poisoned);
}
const char* const names_PJRT_Device_CreateAsyncTrackingEvent[] = {"device", "description", "event"};
[[maybe_unused]] void inputs_PJRT_Device_CreateAsyncTrackingEvent([[maybe_unused]] const PJRT_Device_CreateAsyncTrackingEvent_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Device_CreateAsyncTrackingEvent_Args::device)) writer.address(0, args->device);
  if (has(args, &PJRT_Device_CreateAsyncTrackingEvent_Args::description)) writer.text_or_size(1, args->description, args->description_size);
}
[[maybe_unused]] void outputs_PJRT_Device_CreateAsyncTrackingEvent([[maybe_unused]] const PJRT_Device_CreateAsyncTrackingEvent_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Device_CreateAsyncTrackingEvent_Args::event)) writer.address(2, args->event);
}
const char* const names_PJRT_AsyncTrackingEvent_Destroy[] = {"event"};
[[maybe_unused]] void inputs_PJRT_AsyncTrackingEvent_Destroy([[maybe_unused]] const PJRT_AsyncTrackingEvent_Destroy_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_AsyncTrackingEvent_Destroy_Args::event)) writer.address(0, args->event);
}
[[maybe_unused]] void outputs_PJRT_AsyncTrackingEvent_Destroy([[maybe_unused]] const PJRT_AsyncTrackingEvent_Destroy_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
}
const char* const names_PJRT_Executable_GetCompileOptions[] = {"executable", "serialized_bytes", "serialized_compile_options"};
[[maybe_unused]] void inputs_PJRT_Executable_GetCompileOptions([[maybe_unused]] const PJRT_Executable_GetCompileOptions_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Executable_GetCompileOptions_Args::executable)) writer.address(0, args->executable);
  if (has(args, &PJRT_Executable_GetCompileOptions_Args::serialized_compile_options)) writer.address(2, args->serialized_compile_options);
}
[[maybe_unused]] void outputs_PJRT_Executable_GetCompileOptions([[maybe_unused]] const PJRT_Executable_GetCompileOptions_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Executable_GetCompileOptions_Args::serialized_bytes)) writer.text_or_size(1, args->serialized_bytes, args->serialized_bytes_size);
}
const char* const names_PJRT_Buffer_DonateWithControlDependency[] = {"buffer", "callback_data", "out_buffer"};
[[maybe_unused]] void inputs_PJRT_Buffer_DonateWithControlDependency([[maybe_unused]] const PJRT_Buffer_DonateWithControlDependency_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Buffer_DonateWithControlDependency_Args::buffer)) writer.address(0, args->buffer);
}
[[maybe_unused]] void outputs_PJRT_Buffer_DonateWithControlDependency([[maybe_unused]] const PJRT_Buffer_DonateWithControlDependency_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Buffer_DonateWithControlDependency_Args::callback_data)) writer.address(1, args->callback_data);
  if (has(args, &PJRT_Buffer_DonateWithControlDependency_Args::out_buffer)) writer.address(2, args->out_buffer);
}
const char* const names_PJRT_Event_Create[] = {"event"};
[[maybe_unused]] void inputs_PJRT_Event_Create([[maybe_unused]] const PJRT_Event_Create_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
}
[[maybe_unused]] void outputs_PJRT_Event_Create([[maybe_unused]] const PJRT_Event_Create_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Event_Create_Args::event)) writer.address(0, args->event);
}
const char* const names_PJRT_Event_Set[] = {"event", "error_code", "error_message"};
[[maybe_unused]] void inputs_PJRT_Event_Set([[maybe_unused]] const PJRT_Event_Set_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Event_Set_Args::event)) writer.address(0, args->event);
  if (has(args, &PJRT_Event_Set_Args::error_code)) enumeration(writer, 1, args->error_code);
  if (has(args, &PJRT_Event_Set_Args::error_message)) writer.text_or_size(2, args->error_message, args->error_message_size);
}
[[maybe_unused]] void outputs_PJRT_Event_Set([[maybe_unused]] const PJRT_Event_Set_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
}
const char* const names_PJRT_Device_GetAttributes[] = {"device", "attributes", "device_attributes"};
[[maybe_unused]] void inputs_PJRT_Device_GetAttributes([[maybe_unused]] const PJRT_Device_GetAttributes_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Device_GetAttributes_Args::device)) writer.address(0, args->device);
}
[[maybe_unused]] void outputs_PJRT_Device_GetAttributes([[maybe_unused]] const PJRT_Device_GetAttributes_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Device_GetAttributes_Args::attributes)) named_values(writer, 1, args->attributes, args->num_attributes);
  if (has(args, &PJRT_Device_GetAttributes_Args::device_attributes)) writer.address(2, args->device_attributes);
}
const char* const names_PJRT_Client_Load[] = {"client", "executable", "compile_options", "loaded_executable"};
[[maybe_unused]] void inputs_PJRT_Client_Load([[maybe_unused]] const PJRT_Client_Load_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Client_Load_Args::client)) writer.address(0, args->client);
  if (has(args, &PJRT_Client_Load_Args::executable)) writer.address(1, args->executable);
  if (has(args, &PJRT_Client_Load_Args::compile_options)) writer.text_or_size(2, args->compile_options, args->compile_options_size);
}
[[maybe_unused]] void outputs_PJRT_Client_Load([[maybe_unused]] const PJRT_Client_Load_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Client_Load_Args::loaded_executable)) writer.address(3, args->loaded_executable);
}
const char* const names_PJRT_LoadedExecutable_AddressableDeviceLogicalIds[] = {"executable", "addressable_device_logical_ids.replica", "addressable_device_logical_ids.partition"};
[[maybe_unused]] void inputs_PJRT_LoadedExecutable_AddressableDeviceLogicalIds([[maybe_unused]] const PJRT_LoadedExecutable_AddressableDeviceLogicalIds_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_LoadedExecutable_AddressableDeviceLogicalIds_Args::executable)) writer.address(0, args->executable);
}
[[maybe_unused]] void outputs_PJRT_LoadedExecutable_AddressableDeviceLogicalIds([[maybe_unused]] const PJRT_LoadedExecutable_AddressableDeviceLogicalIds_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_LoadedExecutable_AddressableDeviceLogicalIds_Args::addressable_device_logical_ids) && args->addressable_device_logical_ids != nullptr && true) writer.integer(1, args->addressable_device_logical_ids->replica);
  if (has(args, &PJRT_LoadedExecutable_AddressableDeviceLogicalIds_Args::addressable_device_logical_ids) && args->addressable_device_logical_ids != nullptr && true) writer.integer(2, args->addressable_device_logical_ids->partition);
}
const char* const names_PJRT_Buffer_Bitcast[] = {"buffer", "element_type", "dims", "device_layout.type", "out_buffer", "bytes"};
[[maybe_unused]] void inputs_PJRT_Buffer_Bitcast([[maybe_unused]] const PJRT_Buffer_Bitcast_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Buffer_Bitcast_Args::buffer)) writer.address(0, args->buffer);
  if (has(args, &PJRT_Buffer_Bitcast_Args::element_type)) enumeration(writer, 1, args->element_type);
  if (has(args, &PJRT_Buffer_Bitcast_Args::dims)) writer.integers(2, args->dims, args->num_dims);
  if (has(args, &PJRT_Buffer_Bitcast_Args::device_layout) && args->device_layout != nullptr && has(args->device_layout, &PJRT_Buffer_MemoryLayout::type)) enumeration(writer, 3, args->device_layout->type);
  if (true) writer.integer(5, dense_bytes(args->element_type, args->dims, args->num_dims));
}
[[maybe_unused]] void outputs_PJRT_Buffer_Bitcast([[maybe_unused]] const PJRT_Buffer_Bitcast_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Buffer_Bitcast_Args::out_buffer)) writer.address(4, args->out_buffer);
}
const char* const names_PJRT_Error_ForEachPayload[] = {"error", "user_arg"};
[[maybe_unused]] void inputs_PJRT_Error_ForEachPayload([[maybe_unused]] const PJRT_Error_ForEachPayload_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Error_ForEachPayload_Args::error)) writer.address(0, args->error);
  if (has(args, &PJRT_Error_ForEachPayload_Args::user_arg)) writer.address(1, args->user_arg);
}
[[maybe_unused]] void outputs_PJRT_Error_ForEachPayload([[maybe_unused]] const PJRT_Error_ForEachPayload_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
}
const char* const names_PJRT_TopologyDescription_Fingerprint[] = {"topology", "fingerprint"};
[[maybe_unused]] void inputs_PJRT_TopologyDescription_Fingerprint([[maybe_unused]] const PJRT_TopologyDescription_Fingerprint_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_TopologyDescription_Fingerprint_Args::topology)) writer.address(0, args->topology);
}
[[maybe_unused]] void outputs_PJRT_TopologyDescription_Fingerprint([[maybe_unused]] const PJRT_TopologyDescription_Fingerprint_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_TopologyDescription_Fingerprint_Args::fingerprint)) writer.integer(1, static_cast<int64_t>(args->fingerprint));
}
const char* const names_PJRT_Executable_ParameterMemoryKinds[] = {"executable", "num_parameters", "memory_kinds", "memory_kind_sizes"};
[[maybe_unused]] void inputs_PJRT_Executable_ParameterMemoryKinds([[maybe_unused]] const PJRT_Executable_ParameterMemoryKinds_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Executable_ParameterMemoryKinds_Args::executable)) writer.address(0, args->executable);
  if (has(args, &PJRT_Executable_ParameterMemoryKinds_Args::num_parameters)) writer.integer(1, static_cast<int64_t>(args->num_parameters));
}
[[maybe_unused]] void outputs_PJRT_Executable_ParameterMemoryKinds([[maybe_unused]] const PJRT_Executable_ParameterMemoryKinds_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Executable_ParameterMemoryKinds_Args::memory_kinds)) writer.address(2, args->memory_kinds);
  if (has(args, &PJRT_Executable_ParameterMemoryKinds_Args::memory_kind_sizes)) writer.address(3, args->memory_kind_sizes);
}
const char* const names_PJRT_Device_ClearMemoryStats[] = {"device"};
[[maybe_unused]] void inputs_PJRT_Device_ClearMemoryStats([[maybe_unused]] const PJRT_Device_ClearMemoryStats_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_Device_ClearMemoryStats_Args::device)) writer.address(0, args->device);
}
[[maybe_unused]] void outputs_PJRT_Device_ClearMemoryStats([[maybe_unused]] const PJRT_Device_ClearMemoryStats_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
}
const char* const names_PJRT_TopologyDescription_MakeCanonicalShapeForMemorySpace[] = {"topology", "memory_space_kind_id", "dims", "element_type", "layout.type", "serialized_shape", "bytes"};
[[maybe_unused]] void inputs_PJRT_TopologyDescription_MakeCanonicalShapeForMemorySpace([[maybe_unused]] const PJRT_TopologyDescription_MakeCanonicalShapeForMemorySpace_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_TopologyDescription_MakeCanonicalShapeForMemorySpace_Args::topology)) writer.address(0, args->topology);
  if (has(args, &PJRT_TopologyDescription_MakeCanonicalShapeForMemorySpace_Args::memory_space_kind_id)) writer.integer(1, args->memory_space_kind_id);
  if (has(args, &PJRT_TopologyDescription_MakeCanonicalShapeForMemorySpace_Args::dims)) writer.integers(2, args->dims, args->num_dims);
  if (has(args, &PJRT_TopologyDescription_MakeCanonicalShapeForMemorySpace_Args::element_type)) enumeration(writer, 3, args->element_type);
  if (has(args, &PJRT_TopologyDescription_MakeCanonicalShapeForMemorySpace_Args::layout) && args->layout != nullptr && has(args->layout, &PJRT_Buffer_MemoryLayout::type)) enumeration(writer, 4, args->layout->type);
  if (true) writer.integer(6, dense_bytes(args->element_type, args->dims, args->num_dims));
}
[[maybe_unused]] void outputs_PJRT_TopologyDescription_MakeCanonicalShapeForMemorySpace([[maybe_unused]] const PJRT_TopologyDescription_MakeCanonicalShapeForMemorySpace_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_TopologyDescription_MakeCanonicalShapeForMemorySpace_Args::serialized_shape)) writer.text_or_size(5, args->serialized_shape, args->serialized_shape_size);
}
const char* const names_PJRT_TopologyDescription_GetMemorySpaceKindIds[] = {"topology", "memory_space_kind_ids"};
[[maybe_unused]] void inputs_PJRT_TopologyDescription_GetMemorySpaceKindIds([[maybe_unused]] const PJRT_TopologyDescription_GetMemorySpaceKindIds_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_TopologyDescription_GetMemorySpaceKindIds_Args::topology)) writer.address(0, args->topology);
}
[[maybe_unused]] void outputs_PJRT_TopologyDescription_GetMemorySpaceKindIds([[maybe_unused]] const PJRT_TopologyDescription_GetMemorySpaceKindIds_Args* args,
    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {
  if (has(args, &PJRT_TopologyDescription_GetMemorySpaceKindIds_Args::memory_space_kind_ids)) writer.integers(1, args->memory_space_kind_ids, args->num_memory_space_kind_ids);
}
}  // namespace
extern "C" {
void PJRT_Error_Destroy(PJRT_Error_Destroy_Args* args) {
  framedex::recorder::Call call(first_function + 0);
  if (call.is_recording()) {
    inputs_PJRT_Error_Destroy(args, call.arguments());
    call.enter();
  }
  plugin->PJRT_Error_Destroy(args);
  if (call.is_recording()) {
    outputs_PJRT_Error_Destroy(args, call.arguments());
    call.leave(0, {});
  }
}
void PJRT_Error_Message(PJRT_Error_Message_Args* args) {
  framedex::recorder::Call call(first_function + 1);
  if (call.is_recording()) {
    inputs_PJRT_Error_Message(args, call.arguments());
    call.enter();
  }
  plugin->PJRT_Error_Message(args);
  if (call.is_recording()) {
    outputs_PJRT_Error_Message(args, call.arguments());
    call.leave(0, {});
  }
}
PJRT_Error* PJRT_Error_GetCode(PJRT_Error_GetCode_Args* args) {
  framedex::recorder::Call call(first_function + 2);
  if (call.is_recording()) {
    inputs_PJRT_Error_GetCode(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Error_GetCode(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Error_GetCode(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Plugin_Initialize(PJRT_Plugin_Initialize_Args* args) {
  framedex::recorder::Call call(first_function + 3);
  if (call.is_recording()) {
    inputs_PJRT_Plugin_Initialize(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Plugin_Initialize(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Plugin_Initialize(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Plugin_Attributes(PJRT_Plugin_Attributes_Args* args) {
  framedex::recorder::Call call(first_function + 4);
  if (call.is_recording()) {
    inputs_PJRT_Plugin_Attributes(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Plugin_Attributes(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Plugin_Attributes(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Event_Destroy(PJRT_Event_Destroy_Args* args) {
  framedex::recorder::Call call(first_function + 5);
  if (call.is_recording()) {
    inputs_PJRT_Event_Destroy(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Event_Destroy(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Event_Destroy(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Event_IsReady(PJRT_Event_IsReady_Args* args) {
  framedex::recorder::Call call(first_function + 6);
  if (call.is_recording()) {
    inputs_PJRT_Event_IsReady(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Event_IsReady(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Event_IsReady(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Event_Error(PJRT_Event_Error_Args* args) {
  framedex::recorder::Call call(first_function + 7);
  if (call.is_recording()) {
    inputs_PJRT_Event_Error(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Event_Error(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Event_Error(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Event_Await(PJRT_Event_Await_Args* args) {
  framedex::recorder::Call call(first_function + 8);
  if (call.is_recording()) {
    inputs_PJRT_Event_Await(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Event_Await(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Event_Await(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Event_OnReady(PJRT_Event_OnReady_Args* args) {
  framedex::recorder::Call call(first_function + 9);
  if (call.is_recording()) {
    inputs_PJRT_Event_OnReady(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Event_OnReady(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Event_OnReady(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Client_Create(PJRT_Client_Create_Args* args) {
  framedex::recorder::Call call(first_function + 10);
  if (call.is_recording()) {
    inputs_PJRT_Client_Create(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Client_Create(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Client_Create(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Client_Destroy(PJRT_Client_Destroy_Args* args) {
  framedex::recorder::Call call(first_function + 11);
  if (call.is_recording()) {
    inputs_PJRT_Client_Destroy(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Client_Destroy(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Client_Destroy(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Client_PlatformName(PJRT_Client_PlatformName_Args* args) {
  framedex::recorder::Call call(first_function + 12);
  if (call.is_recording()) {
    inputs_PJRT_Client_PlatformName(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Client_PlatformName(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Client_PlatformName(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Client_ProcessIndex(PJRT_Client_ProcessIndex_Args* args) {
  framedex::recorder::Call call(first_function + 13);
  if (call.is_recording()) {
    inputs_PJRT_Client_ProcessIndex(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Client_ProcessIndex(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Client_ProcessIndex(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Client_PlatformVersion(PJRT_Client_PlatformVersion_Args* args) {
  framedex::recorder::Call call(first_function + 14);
  if (call.is_recording()) {
    inputs_PJRT_Client_PlatformVersion(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Client_PlatformVersion(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Client_PlatformVersion(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Client_Devices(PJRT_Client_Devices_Args* args) {
  framedex::recorder::Call call(first_function + 15);
  if (call.is_recording()) {
    inputs_PJRT_Client_Devices(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Client_Devices(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Client_Devices(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Client_AddressableDevices(PJRT_Client_AddressableDevices_Args* args) {
  framedex::recorder::Call call(first_function + 16);
  if (call.is_recording()) {
    inputs_PJRT_Client_AddressableDevices(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Client_AddressableDevices(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Client_AddressableDevices(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Client_LookupDevice(PJRT_Client_LookupDevice_Args* args) {
  framedex::recorder::Call call(first_function + 17);
  if (call.is_recording()) {
    inputs_PJRT_Client_LookupDevice(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Client_LookupDevice(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Client_LookupDevice(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Client_LookupAddressableDevice(PJRT_Client_LookupAddressableDevice_Args* args) {
  framedex::recorder::Call call(first_function + 18);
  if (call.is_recording()) {
    inputs_PJRT_Client_LookupAddressableDevice(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Client_LookupAddressableDevice(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Client_LookupAddressableDevice(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Client_AddressableMemories(PJRT_Client_AddressableMemories_Args* args) {
  framedex::recorder::Call call(first_function + 19);
  if (call.is_recording()) {
    inputs_PJRT_Client_AddressableMemories(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Client_AddressableMemories(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Client_AddressableMemories(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Client_Compile(PJRT_Client_Compile_Args* args) {
  framedex::recorder::Call call(first_function + 20);
  if (call.is_recording()) {
    inputs_PJRT_Client_Compile(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Client_Compile(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Client_Compile(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Client_DefaultDeviceAssignment(PJRT_Client_DefaultDeviceAssignment_Args* args) {
  framedex::recorder::Call call(first_function + 21);
  if (call.is_recording()) {
    inputs_PJRT_Client_DefaultDeviceAssignment(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Client_DefaultDeviceAssignment(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Client_DefaultDeviceAssignment(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Client_BufferFromHostBuffer(PJRT_Client_BufferFromHostBuffer_Args* args) {
  framedex::recorder::Call call(first_function + 22);
  if (call.is_recording()) {
    inputs_PJRT_Client_BufferFromHostBuffer(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Client_BufferFromHostBuffer(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Client_BufferFromHostBuffer(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_DeviceDescription_Id(PJRT_DeviceDescription_Id_Args* args) {
  framedex::recorder::Call call(first_function + 23);
  if (call.is_recording()) {
    inputs_PJRT_DeviceDescription_Id(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_DeviceDescription_Id(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_DeviceDescription_Id(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_DeviceDescription_ProcessIndex(PJRT_DeviceDescription_ProcessIndex_Args* args) {
  framedex::recorder::Call call(first_function + 24);
  if (call.is_recording()) {
    inputs_PJRT_DeviceDescription_ProcessIndex(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_DeviceDescription_ProcessIndex(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_DeviceDescription_ProcessIndex(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_DeviceDescription_Attributes(PJRT_DeviceDescription_Attributes_Args* args) {
  framedex::recorder::Call call(first_function + 25);
  if (call.is_recording()) {
    inputs_PJRT_DeviceDescription_Attributes(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_DeviceDescription_Attributes(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_DeviceDescription_Attributes(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_DeviceDescription_Kind(PJRT_DeviceDescription_Kind_Args* args) {
  framedex::recorder::Call call(first_function + 26);
  if (call.is_recording()) {
    inputs_PJRT_DeviceDescription_Kind(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_DeviceDescription_Kind(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_DeviceDescription_Kind(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_DeviceDescription_DebugString(PJRT_DeviceDescription_DebugString_Args* args) {
  framedex::recorder::Call call(first_function + 27);
  if (call.is_recording()) {
    inputs_PJRT_DeviceDescription_DebugString(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_DeviceDescription_DebugString(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_DeviceDescription_DebugString(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_DeviceDescription_ToString(PJRT_DeviceDescription_ToString_Args* args) {
  framedex::recorder::Call call(first_function + 28);
  if (call.is_recording()) {
    inputs_PJRT_DeviceDescription_ToString(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_DeviceDescription_ToString(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_DeviceDescription_ToString(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Device_GetDescription(PJRT_Device_GetDescription_Args* args) {
  framedex::recorder::Call call(first_function + 29);
  if (call.is_recording()) {
    inputs_PJRT_Device_GetDescription(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Device_GetDescription(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Device_GetDescription(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Device_IsAddressable(PJRT_Device_IsAddressable_Args* args) {
  framedex::recorder::Call call(first_function + 30);
  if (call.is_recording()) {
    inputs_PJRT_Device_IsAddressable(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Device_IsAddressable(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Device_IsAddressable(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Device_LocalHardwareId(PJRT_Device_LocalHardwareId_Args* args) {
  framedex::recorder::Call call(first_function + 31);
  if (call.is_recording()) {
    inputs_PJRT_Device_LocalHardwareId(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Device_LocalHardwareId(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Device_LocalHardwareId(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Device_AddressableMemories(PJRT_Device_AddressableMemories_Args* args) {
  framedex::recorder::Call call(first_function + 32);
  if (call.is_recording()) {
    inputs_PJRT_Device_AddressableMemories(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Device_AddressableMemories(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Device_AddressableMemories(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Device_DefaultMemory(PJRT_Device_DefaultMemory_Args* args) {
  framedex::recorder::Call call(first_function + 33);
  if (call.is_recording()) {
    inputs_PJRT_Device_DefaultMemory(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Device_DefaultMemory(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Device_DefaultMemory(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Device_MemoryStats(PJRT_Device_MemoryStats_Args* args) {
  framedex::recorder::Call call(first_function + 34);
  if (call.is_recording()) {
    inputs_PJRT_Device_MemoryStats(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Device_MemoryStats(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Device_MemoryStats(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Memory_Id(PJRT_Memory_Id_Args* args) {
  framedex::recorder::Call call(first_function + 35);
  if (call.is_recording()) {
    inputs_PJRT_Memory_Id(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Memory_Id(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Memory_Id(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Memory_Kind(PJRT_Memory_Kind_Args* args) {
  framedex::recorder::Call call(first_function + 36);
  if (call.is_recording()) {
    inputs_PJRT_Memory_Kind(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Memory_Kind(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Memory_Kind(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Memory_DebugString(PJRT_Memory_DebugString_Args* args) {
  framedex::recorder::Call call(first_function + 37);
  if (call.is_recording()) {
    inputs_PJRT_Memory_DebugString(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Memory_DebugString(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Memory_DebugString(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Memory_ToString(PJRT_Memory_ToString_Args* args) {
  framedex::recorder::Call call(first_function + 38);
  if (call.is_recording()) {
    inputs_PJRT_Memory_ToString(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Memory_ToString(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Memory_ToString(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Memory_AddressableByDevices(PJRT_Memory_AddressableByDevices_Args* args) {
  framedex::recorder::Call call(first_function + 39);
  if (call.is_recording()) {
    inputs_PJRT_Memory_AddressableByDevices(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Memory_AddressableByDevices(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Memory_AddressableByDevices(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Executable_Destroy(PJRT_Executable_Destroy_Args* args) {
  framedex::recorder::Call call(first_function + 40);
  if (call.is_recording()) {
    inputs_PJRT_Executable_Destroy(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Executable_Destroy(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Executable_Destroy(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Executable_Name(PJRT_Executable_Name_Args* args) {
  framedex::recorder::Call call(first_function + 41);
  if (call.is_recording()) {
    inputs_PJRT_Executable_Name(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Executable_Name(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Executable_Name(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Executable_NumReplicas(PJRT_Executable_NumReplicas_Args* args) {
  framedex::recorder::Call call(first_function + 42);
  if (call.is_recording()) {
    inputs_PJRT_Executable_NumReplicas(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Executable_NumReplicas(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Executable_NumReplicas(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Executable_NumPartitions(PJRT_Executable_NumPartitions_Args* args) {
  framedex::recorder::Call call(first_function + 43);
  if (call.is_recording()) {
    inputs_PJRT_Executable_NumPartitions(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Executable_NumPartitions(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Executable_NumPartitions(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Executable_NumOutputs(PJRT_Executable_NumOutputs_Args* args) {
  framedex::recorder::Call call(first_function + 44);
  if (call.is_recording()) {
    inputs_PJRT_Executable_NumOutputs(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Executable_NumOutputs(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Executable_NumOutputs(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Executable_SizeOfGeneratedCodeInBytes(PJRT_Executable_SizeOfGeneratedCodeInBytes_Args* args) {
  framedex::recorder::Call call(first_function + 45);
  if (call.is_recording()) {
    inputs_PJRT_Executable_SizeOfGeneratedCodeInBytes(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Executable_SizeOfGeneratedCodeInBytes(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Executable_SizeOfGeneratedCodeInBytes(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Executable_GetCostAnalysis(PJRT_Executable_GetCostAnalysis_Args* args) {
  framedex::recorder::Call call(first_function + 46);
  if (call.is_recording()) {
    inputs_PJRT_Executable_GetCostAnalysis(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Executable_GetCostAnalysis(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Executable_GetCostAnalysis(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Executable_OutputMemoryKinds(PJRT_Executable_OutputMemoryKinds_Args* args) {
  framedex::recorder::Call call(first_function + 47);
  if (call.is_recording()) {
    inputs_PJRT_Executable_OutputMemoryKinds(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Executable_OutputMemoryKinds(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Executable_OutputMemoryKinds(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Executable_OptimizedProgram(PJRT_Executable_OptimizedProgram_Args* args) {
  framedex::recorder::Call call(first_function + 48);
  if (call.is_recording()) {
    inputs_PJRT_Executable_OptimizedProgram(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Executable_OptimizedProgram(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Executable_OptimizedProgram(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Executable_Serialize(PJRT_Executable_Serialize_Args* args) {
  framedex::recorder::Call call(first_function + 49);
  if (call.is_recording()) {
    inputs_PJRT_Executable_Serialize(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Executable_Serialize(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Executable_Serialize(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_LoadedExecutable_Destroy(PJRT_LoadedExecutable_Destroy_Args* args) {
  framedex::recorder::Call call(first_function + 50);
  if (call.is_recording()) {
    inputs_PJRT_LoadedExecutable_Destroy(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_LoadedExecutable_Destroy(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_LoadedExecutable_Destroy(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_LoadedExecutable_GetExecutable(PJRT_LoadedExecutable_GetExecutable_Args* args) {
  framedex::recorder::Call call(first_function + 51);
  if (call.is_recording()) {
    inputs_PJRT_LoadedExecutable_GetExecutable(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_LoadedExecutable_GetExecutable(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_LoadedExecutable_GetExecutable(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_LoadedExecutable_AddressableDevices(PJRT_LoadedExecutable_AddressableDevices_Args* args) {
  framedex::recorder::Call call(first_function + 52);
  if (call.is_recording()) {
    inputs_PJRT_LoadedExecutable_AddressableDevices(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_LoadedExecutable_AddressableDevices(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_LoadedExecutable_AddressableDevices(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_LoadedExecutable_Delete(PJRT_LoadedExecutable_Delete_Args* args) {
  framedex::recorder::Call call(first_function + 53);
  if (call.is_recording()) {
    inputs_PJRT_LoadedExecutable_Delete(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_LoadedExecutable_Delete(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_LoadedExecutable_Delete(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_LoadedExecutable_IsDeleted(PJRT_LoadedExecutable_IsDeleted_Args* args) {
  framedex::recorder::Call call(first_function + 54);
  if (call.is_recording()) {
    inputs_PJRT_LoadedExecutable_IsDeleted(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_LoadedExecutable_IsDeleted(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_LoadedExecutable_IsDeleted(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_LoadedExecutable_Execute(PJRT_LoadedExecutable_Execute_Args* args) {
  framedex::recorder::Call call(first_function + 55);
  if (call.is_recording()) {
    inputs_PJRT_LoadedExecutable_Execute(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_LoadedExecutable_Execute(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_LoadedExecutable_Execute(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Executable_DeserializeAndLoad(PJRT_Executable_DeserializeAndLoad_Args* args) {
  framedex::recorder::Call call(first_function + 56);
  if (call.is_recording()) {
    inputs_PJRT_Executable_DeserializeAndLoad(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Executable_DeserializeAndLoad(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Executable_DeserializeAndLoad(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_LoadedExecutable_Fingerprint(PJRT_LoadedExecutable_Fingerprint_Args* args) {
  framedex::recorder::Call call(first_function + 57);
  if (call.is_recording()) {
    inputs_PJRT_LoadedExecutable_Fingerprint(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_LoadedExecutable_Fingerprint(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_LoadedExecutable_Fingerprint(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Buffer_Destroy(PJRT_Buffer_Destroy_Args* args) {
  framedex::recorder::Call call(first_function + 58);
  if (call.is_recording()) {
    inputs_PJRT_Buffer_Destroy(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Buffer_Destroy(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Buffer_Destroy(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Buffer_ElementType(PJRT_Buffer_ElementType_Args* args) {
  framedex::recorder::Call call(first_function + 59);
  if (call.is_recording()) {
    inputs_PJRT_Buffer_ElementType(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Buffer_ElementType(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Buffer_ElementType(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Buffer_Dimensions(PJRT_Buffer_Dimensions_Args* args) {
  framedex::recorder::Call call(first_function + 60);
  if (call.is_recording()) {
    inputs_PJRT_Buffer_Dimensions(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Buffer_Dimensions(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Buffer_Dimensions(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Buffer_UnpaddedDimensions(PJRT_Buffer_UnpaddedDimensions_Args* args) {
  framedex::recorder::Call call(first_function + 61);
  if (call.is_recording()) {
    inputs_PJRT_Buffer_UnpaddedDimensions(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Buffer_UnpaddedDimensions(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Buffer_UnpaddedDimensions(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Buffer_DynamicDimensionIndices(PJRT_Buffer_DynamicDimensionIndices_Args* args) {
  framedex::recorder::Call call(first_function + 62);
  if (call.is_recording()) {
    inputs_PJRT_Buffer_DynamicDimensionIndices(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Buffer_DynamicDimensionIndices(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Buffer_DynamicDimensionIndices(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Buffer_GetMemoryLayout(PJRT_Buffer_GetMemoryLayout_Args* args) {
  framedex::recorder::Call call(first_function + 63);
  if (call.is_recording()) {
    inputs_PJRT_Buffer_GetMemoryLayout(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Buffer_GetMemoryLayout(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Buffer_GetMemoryLayout(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Buffer_OnDeviceSizeInBytes(PJRT_Buffer_OnDeviceSizeInBytes_Args* args) {
  framedex::recorder::Call call(first_function + 64);
  if (call.is_recording()) {
    inputs_PJRT_Buffer_OnDeviceSizeInBytes(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Buffer_OnDeviceSizeInBytes(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Buffer_OnDeviceSizeInBytes(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Buffer_Device(PJRT_Buffer_Device_Args* args) {
  framedex::recorder::Call call(first_function + 65);
  if (call.is_recording()) {
    inputs_PJRT_Buffer_Device(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Buffer_Device(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Buffer_Device(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Buffer_Memory(PJRT_Buffer_Memory_Args* args) {
  framedex::recorder::Call call(first_function + 66);
  if (call.is_recording()) {
    inputs_PJRT_Buffer_Memory(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Buffer_Memory(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Buffer_Memory(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Buffer_Delete(PJRT_Buffer_Delete_Args* args) {
  framedex::recorder::Call call(first_function + 67);
  if (call.is_recording()) {
    inputs_PJRT_Buffer_Delete(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Buffer_Delete(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Buffer_Delete(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Buffer_IsDeleted(PJRT_Buffer_IsDeleted_Args* args) {
  framedex::recorder::Call call(first_function + 68);
  if (call.is_recording()) {
    inputs_PJRT_Buffer_IsDeleted(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Buffer_IsDeleted(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Buffer_IsDeleted(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Buffer_CopyToDevice(PJRT_Buffer_CopyToDevice_Args* args) {
  framedex::recorder::Call call(first_function + 69);
  if (call.is_recording()) {
    inputs_PJRT_Buffer_CopyToDevice(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Buffer_CopyToDevice(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Buffer_CopyToDevice(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Buffer_ToHostBuffer(PJRT_Buffer_ToHostBuffer_Args* args) {
  framedex::recorder::Call call(first_function + 70);
  if (call.is_recording()) {
    inputs_PJRT_Buffer_ToHostBuffer(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Buffer_ToHostBuffer(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Buffer_ToHostBuffer(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Buffer_IsOnCpu(PJRT_Buffer_IsOnCpu_Args* args) {
  framedex::recorder::Call call(first_function + 71);
  if (call.is_recording()) {
    inputs_PJRT_Buffer_IsOnCpu(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Buffer_IsOnCpu(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Buffer_IsOnCpu(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Buffer_ReadyEvent(PJRT_Buffer_ReadyEvent_Args* args) {
  framedex::recorder::Call call(first_function + 72);
  if (call.is_recording()) {
    inputs_PJRT_Buffer_ReadyEvent(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Buffer_ReadyEvent(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Buffer_ReadyEvent(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Buffer_UnsafePointer(PJRT_Buffer_UnsafePointer_Args* args) {
  framedex::recorder::Call call(first_function + 73);
  if (call.is_recording()) {
    inputs_PJRT_Buffer_UnsafePointer(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Buffer_UnsafePointer(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Buffer_UnsafePointer(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Buffer_IncreaseExternalReferenceCount(PJRT_Buffer_IncreaseExternalReferenceCount_Args* args) {
  framedex::recorder::Call call(first_function + 74);
  if (call.is_recording()) {
    inputs_PJRT_Buffer_IncreaseExternalReferenceCount(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Buffer_IncreaseExternalReferenceCount(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Buffer_IncreaseExternalReferenceCount(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Buffer_DecreaseExternalReferenceCount(PJRT_Buffer_DecreaseExternalReferenceCount_Args* args) {
  framedex::recorder::Call call(first_function + 75);
  if (call.is_recording()) {
    inputs_PJRT_Buffer_DecreaseExternalReferenceCount(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Buffer_DecreaseExternalReferenceCount(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Buffer_DecreaseExternalReferenceCount(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Buffer_OpaqueDeviceMemoryDataPointer(PJRT_Buffer_OpaqueDeviceMemoryDataPointer_Args* args) {
  framedex::recorder::Call call(first_function + 76);
  if (call.is_recording()) {
    inputs_PJRT_Buffer_OpaqueDeviceMemoryDataPointer(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Buffer_OpaqueDeviceMemoryDataPointer(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Buffer_OpaqueDeviceMemoryDataPointer(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_CopyToDeviceStream_Destroy(PJRT_CopyToDeviceStream_Destroy_Args* args) {
  framedex::recorder::Call call(first_function + 77);
  if (call.is_recording()) {
    inputs_PJRT_CopyToDeviceStream_Destroy(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_CopyToDeviceStream_Destroy(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_CopyToDeviceStream_Destroy(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_CopyToDeviceStream_AddChunk(PJRT_CopyToDeviceStream_AddChunk_Args* args) {
  framedex::recorder::Call call(first_function + 78);
  if (call.is_recording()) {
    inputs_PJRT_CopyToDeviceStream_AddChunk(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_CopyToDeviceStream_AddChunk(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_CopyToDeviceStream_AddChunk(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_CopyToDeviceStream_TotalBytes(PJRT_CopyToDeviceStream_TotalBytes_Args* args) {
  framedex::recorder::Call call(first_function + 79);
  if (call.is_recording()) {
    inputs_PJRT_CopyToDeviceStream_TotalBytes(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_CopyToDeviceStream_TotalBytes(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_CopyToDeviceStream_TotalBytes(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_CopyToDeviceStream_GranuleSize(PJRT_CopyToDeviceStream_GranuleSize_Args* args) {
  framedex::recorder::Call call(first_function + 80);
  if (call.is_recording()) {
    inputs_PJRT_CopyToDeviceStream_GranuleSize(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_CopyToDeviceStream_GranuleSize(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_CopyToDeviceStream_GranuleSize(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_CopyToDeviceStream_CurrentBytes(PJRT_CopyToDeviceStream_CurrentBytes_Args* args) {
  framedex::recorder::Call call(first_function + 81);
  if (call.is_recording()) {
    inputs_PJRT_CopyToDeviceStream_CurrentBytes(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_CopyToDeviceStream_CurrentBytes(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_CopyToDeviceStream_CurrentBytes(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_TopologyDescription_Create(PJRT_TopologyDescription_Create_Args* args) {
  framedex::recorder::Call call(first_function + 82);
  if (call.is_recording()) {
    inputs_PJRT_TopologyDescription_Create(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_TopologyDescription_Create(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_TopologyDescription_Create(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_TopologyDescription_Destroy(PJRT_TopologyDescription_Destroy_Args* args) {
  framedex::recorder::Call call(first_function + 83);
  if (call.is_recording()) {
    inputs_PJRT_TopologyDescription_Destroy(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_TopologyDescription_Destroy(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_TopologyDescription_Destroy(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_TopologyDescription_PlatformName(PJRT_TopologyDescription_PlatformName_Args* args) {
  framedex::recorder::Call call(first_function + 84);
  if (call.is_recording()) {
    inputs_PJRT_TopologyDescription_PlatformName(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_TopologyDescription_PlatformName(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_TopologyDescription_PlatformName(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_TopologyDescription_PlatformVersion(PJRT_TopologyDescription_PlatformVersion_Args* args) {
  framedex::recorder::Call call(first_function + 85);
  if (call.is_recording()) {
    inputs_PJRT_TopologyDescription_PlatformVersion(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_TopologyDescription_PlatformVersion(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_TopologyDescription_PlatformVersion(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_TopologyDescription_GetDeviceDescriptions(PJRT_TopologyDescription_GetDeviceDescriptions_Args* args) {
  framedex::recorder::Call call(first_function + 86);
  if (call.is_recording()) {
    inputs_PJRT_TopologyDescription_GetDeviceDescriptions(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_TopologyDescription_GetDeviceDescriptions(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_TopologyDescription_GetDeviceDescriptions(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_TopologyDescription_Serialize(PJRT_TopologyDescription_Serialize_Args* args) {
  framedex::recorder::Call call(first_function + 87);
  if (call.is_recording()) {
    inputs_PJRT_TopologyDescription_Serialize(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_TopologyDescription_Serialize(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_TopologyDescription_Serialize(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_TopologyDescription_Attributes(PJRT_TopologyDescription_Attributes_Args* args) {
  framedex::recorder::Call call(first_function + 88);
  if (call.is_recording()) {
    inputs_PJRT_TopologyDescription_Attributes(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_TopologyDescription_Attributes(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_TopologyDescription_Attributes(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Compile(PJRT_Compile_Args* args) {
  framedex::recorder::Call call(first_function + 89);
  if (call.is_recording()) {
    inputs_PJRT_Compile(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Compile(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Compile(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Executable_OutputElementTypes(PJRT_Executable_OutputElementTypes_Args* args) {
  framedex::recorder::Call call(first_function + 90);
  if (call.is_recording()) {
    inputs_PJRT_Executable_OutputElementTypes(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Executable_OutputElementTypes(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Executable_OutputElementTypes(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Executable_OutputDimensions(PJRT_Executable_OutputDimensions_Args* args) {
  framedex::recorder::Call call(first_function + 91);
  if (call.is_recording()) {
    inputs_PJRT_Executable_OutputDimensions(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Executable_OutputDimensions(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Executable_OutputDimensions(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Buffer_CopyToMemory(PJRT_Buffer_CopyToMemory_Args* args) {
  framedex::recorder::Call call(first_function + 92);
  if (call.is_recording()) {
    inputs_PJRT_Buffer_CopyToMemory(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Buffer_CopyToMemory(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Buffer_CopyToMemory(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Client_CreateViewOfDeviceBuffer(PJRT_Client_CreateViewOfDeviceBuffer_Args* args) {
  framedex::recorder::Call call(first_function + 93);
  if (call.is_recording()) {
    inputs_PJRT_Client_CreateViewOfDeviceBuffer(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Client_CreateViewOfDeviceBuffer(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Client_CreateViewOfDeviceBuffer(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Executable_Fingerprint(PJRT_Executable_Fingerprint_Args* args) {
  framedex::recorder::Call call(first_function + 94);
  if (call.is_recording()) {
    inputs_PJRT_Executable_Fingerprint(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Executable_Fingerprint(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Executable_Fingerprint(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Client_TopologyDescription(PJRT_Client_TopologyDescription_Args* args) {
  framedex::recorder::Call call(first_function + 95);
  if (call.is_recording()) {
    inputs_PJRT_Client_TopologyDescription(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Client_TopologyDescription(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Client_TopologyDescription(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Executable_GetCompiledMemoryStats(PJRT_Executable_GetCompiledMemoryStats_Args* args) {
  framedex::recorder::Call call(first_function + 96);
  if (call.is_recording()) {
    inputs_PJRT_Executable_GetCompiledMemoryStats(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Executable_GetCompiledMemoryStats(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Executable_GetCompiledMemoryStats(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Memory_Kind_Id(PJRT_Memory_Kind_Id_Args* args) {
  framedex::recorder::Call call(first_function + 97);
  if (call.is_recording()) {
    inputs_PJRT_Memory_Kind_Id(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Memory_Kind_Id(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Memory_Kind_Id(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_ExecuteContext_Create(PJRT_ExecuteContext_Create_Args* args) {
  framedex::recorder::Call call(first_function + 98);
  if (call.is_recording()) {
    inputs_PJRT_ExecuteContext_Create(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_ExecuteContext_Create(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_ExecuteContext_Create(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_ExecuteContext_Destroy(PJRT_ExecuteContext_Destroy_Args* args) {
  framedex::recorder::Call call(first_function + 99);
  if (call.is_recording()) {
    inputs_PJRT_ExecuteContext_Destroy(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_ExecuteContext_Destroy(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_ExecuteContext_Destroy(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Buffer_CopyRawToHost(PJRT_Buffer_CopyRawToHost_Args* args) {
  framedex::recorder::Call call(first_function + 100);
  if (call.is_recording()) {
    inputs_PJRT_Buffer_CopyRawToHost(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Buffer_CopyRawToHost(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Buffer_CopyRawToHost(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_AsyncHostToDeviceTransferManager_Destroy(PJRT_AsyncHostToDeviceTransferManager_Destroy_Args* args) {
  framedex::recorder::Call call(first_function + 101);
  if (call.is_recording()) {
    inputs_PJRT_AsyncHostToDeviceTransferManager_Destroy(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_AsyncHostToDeviceTransferManager_Destroy(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_AsyncHostToDeviceTransferManager_Destroy(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_AsyncHostToDeviceTransferManager_TransferData(PJRT_AsyncHostToDeviceTransferManager_TransferData_Args* args) {
  framedex::recorder::Call call(first_function + 102);
  if (call.is_recording()) {
    inputs_PJRT_AsyncHostToDeviceTransferManager_TransferData(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_AsyncHostToDeviceTransferManager_TransferData(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_AsyncHostToDeviceTransferManager_TransferData(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Client_CreateBuffersForAsyncHostToDevice(PJRT_Client_CreateBuffersForAsyncHostToDevice_Args* args) {
  framedex::recorder::Call call(first_function + 103);
  if (call.is_recording()) {
    inputs_PJRT_Client_CreateBuffersForAsyncHostToDevice(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Client_CreateBuffersForAsyncHostToDevice(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Client_CreateBuffersForAsyncHostToDevice(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer(PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer_Args* args) {
  framedex::recorder::Call call(first_function + 104);
  if (call.is_recording()) {
    inputs_PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_AsyncHostToDeviceTransferManager_Device(PJRT_AsyncHostToDeviceTransferManager_Device_Args* args) {
  framedex::recorder::Call call(first_function + 105);
  if (call.is_recording()) {
    inputs_PJRT_AsyncHostToDeviceTransferManager_Device(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_AsyncHostToDeviceTransferManager_Device(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_AsyncHostToDeviceTransferManager_Device(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_AsyncHostToDeviceTransferManager_BufferCount(PJRT_AsyncHostToDeviceTransferManager_BufferCount_Args* args) {
  framedex::recorder::Call call(first_function + 106);
  if (call.is_recording()) {
    inputs_PJRT_AsyncHostToDeviceTransferManager_BufferCount(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_AsyncHostToDeviceTransferManager_BufferCount(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_AsyncHostToDeviceTransferManager_BufferCount(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_AsyncHostToDeviceTransferManager_BufferSize(PJRT_AsyncHostToDeviceTransferManager_BufferSize_Args* args) {
  framedex::recorder::Call call(first_function + 107);
  if (call.is_recording()) {
    inputs_PJRT_AsyncHostToDeviceTransferManager_BufferSize(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_AsyncHostToDeviceTransferManager_BufferSize(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_AsyncHostToDeviceTransferManager_BufferSize(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_AsyncHostToDeviceTransferManager_SetBufferError(PJRT_AsyncHostToDeviceTransferManager_SetBufferError_Args* args) {
  framedex::recorder::Call call(first_function + 108);
  if (call.is_recording()) {
    inputs_PJRT_AsyncHostToDeviceTransferManager_SetBufferError(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_AsyncHostToDeviceTransferManager_SetBufferError(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_AsyncHostToDeviceTransferManager_SetBufferError(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_AsyncHostToDeviceTransferManager_AddMetadata(PJRT_AsyncHostToDeviceTransferManager_AddMetadata_Args* args) {
  framedex::recorder::Call call(first_function + 109);
  if (call.is_recording()) {
    inputs_PJRT_AsyncHostToDeviceTransferManager_AddMetadata(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_AsyncHostToDeviceTransferManager_AddMetadata(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_AsyncHostToDeviceTransferManager_AddMetadata(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Client_DmaMap(PJRT_Client_DmaMap_Args* args) {
  framedex::recorder::Call call(first_function + 110);
  if (call.is_recording()) {
    inputs_PJRT_Client_DmaMap(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Client_DmaMap(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Client_DmaMap(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Client_DmaUnmap(PJRT_Client_DmaUnmap_Args* args) {
  framedex::recorder::Call call(first_function + 111);
  if (call.is_recording()) {
    inputs_PJRT_Client_DmaUnmap(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Client_DmaUnmap(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Client_DmaUnmap(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Client_CreateUninitializedBuffer(PJRT_Client_CreateUninitializedBuffer_Args* args) {
  framedex::recorder::Call call(first_function + 112);
  if (call.is_recording()) {
    inputs_PJRT_Client_CreateUninitializedBuffer(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Client_CreateUninitializedBuffer(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Client_CreateUninitializedBuffer(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Client_UpdateGlobalProcessInfo(PJRT_Client_UpdateGlobalProcessInfo_Args* args) {
  framedex::recorder::Call call(first_function + 113);
  if (call.is_recording()) {
    inputs_PJRT_Client_UpdateGlobalProcessInfo(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Client_UpdateGlobalProcessInfo(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Client_UpdateGlobalProcessInfo(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_TopologyDescription_Deserialize(PJRT_TopologyDescription_Deserialize_Args* args) {
  framedex::recorder::Call call(first_function + 114);
  if (call.is_recording()) {
    inputs_PJRT_TopologyDescription_Deserialize(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_TopologyDescription_Deserialize(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_TopologyDescription_Deserialize(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Client_CreateAliasBuffer(PJRT_Client_CreateAliasBuffer_Args* args) {
  framedex::recorder::Call call(first_function + 115);
  if (call.is_recording()) {
    inputs_PJRT_Client_CreateAliasBuffer(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Client_CreateAliasBuffer(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Client_CreateAliasBuffer(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Client_FulfillAliasBuffer(PJRT_Client_FulfillAliasBuffer_Args* args) {
  framedex::recorder::Call call(first_function + 116);
  if (call.is_recording()) {
    inputs_PJRT_Client_FulfillAliasBuffer(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Client_FulfillAliasBuffer(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Client_FulfillAliasBuffer(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_LoadedExecutable_GetDeviceAssignment(PJRT_LoadedExecutable_GetDeviceAssignment_Args* args) {
  framedex::recorder::Call call(first_function + 117);
  if (call.is_recording()) {
    inputs_PJRT_LoadedExecutable_GetDeviceAssignment(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_LoadedExecutable_GetDeviceAssignment(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_LoadedExecutable_GetDeviceAssignment(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Client_CreateErrorBuffer(PJRT_Client_CreateErrorBuffer_Args* args) {
  framedex::recorder::Call call(first_function + 118);
  if (call.is_recording()) {
    inputs_PJRT_Client_CreateErrorBuffer(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Client_CreateErrorBuffer(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Client_CreateErrorBuffer(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_AsyncHostToDeviceTransferManager_TransferLiteral(PJRT_AsyncHostToDeviceTransferManager_TransferLiteral_Args* args) {
  framedex::recorder::Call call(first_function + 119);
  if (call.is_recording()) {
    inputs_PJRT_AsyncHostToDeviceTransferManager_TransferLiteral(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_AsyncHostToDeviceTransferManager_TransferLiteral(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_AsyncHostToDeviceTransferManager_TransferLiteral(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Buffer_CopyRawToHostFuture(PJRT_Buffer_CopyRawToHostFuture_Args* args) {
  framedex::recorder::Call call(first_function + 120);
  if (call.is_recording()) {
    inputs_PJRT_Buffer_CopyRawToHostFuture(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Buffer_CopyRawToHostFuture(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Buffer_CopyRawToHostFuture(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Device_PoisonExecution(PJRT_Device_PoisonExecution_Args* args) {
  framedex::recorder::Call call(first_function + 121);
  if (call.is_recording()) {
    inputs_PJRT_Device_PoisonExecution(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Device_PoisonExecution(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Device_PoisonExecution(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Device_CreateAsyncTrackingEvent(PJRT_Device_CreateAsyncTrackingEvent_Args* args) {
  framedex::recorder::Call call(first_function + 122);
  if (call.is_recording()) {
    inputs_PJRT_Device_CreateAsyncTrackingEvent(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Device_CreateAsyncTrackingEvent(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Device_CreateAsyncTrackingEvent(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_AsyncTrackingEvent_Destroy(PJRT_AsyncTrackingEvent_Destroy_Args* args) {
  framedex::recorder::Call call(first_function + 123);
  if (call.is_recording()) {
    inputs_PJRT_AsyncTrackingEvent_Destroy(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_AsyncTrackingEvent_Destroy(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_AsyncTrackingEvent_Destroy(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Executable_GetCompileOptions(PJRT_Executable_GetCompileOptions_Args* args) {
  framedex::recorder::Call call(first_function + 124);
  if (call.is_recording()) {
    inputs_PJRT_Executable_GetCompileOptions(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Executable_GetCompileOptions(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Executable_GetCompileOptions(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Buffer_DonateWithControlDependency(PJRT_Buffer_DonateWithControlDependency_Args* args) {
  framedex::recorder::Call call(first_function + 125);
  if (call.is_recording()) {
    inputs_PJRT_Buffer_DonateWithControlDependency(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Buffer_DonateWithControlDependency(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Buffer_DonateWithControlDependency(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Event_Create(PJRT_Event_Create_Args* args) {
  framedex::recorder::Call call(first_function + 126);
  if (call.is_recording()) {
    inputs_PJRT_Event_Create(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Event_Create(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Event_Create(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Event_Set(PJRT_Event_Set_Args* args) {
  framedex::recorder::Call call(first_function + 127);
  if (call.is_recording()) {
    inputs_PJRT_Event_Set(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Event_Set(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Event_Set(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Device_GetAttributes(PJRT_Device_GetAttributes_Args* args) {
  framedex::recorder::Call call(first_function + 128);
  if (call.is_recording()) {
    inputs_PJRT_Device_GetAttributes(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Device_GetAttributes(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Device_GetAttributes(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Client_Load(PJRT_Client_Load_Args* args) {
  framedex::recorder::Call call(first_function + 129);
  if (call.is_recording()) {
    inputs_PJRT_Client_Load(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Client_Load(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Client_Load(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_LoadedExecutable_AddressableDeviceLogicalIds(PJRT_LoadedExecutable_AddressableDeviceLogicalIds_Args* args) {
  framedex::recorder::Call call(first_function + 130);
  if (call.is_recording()) {
    inputs_PJRT_LoadedExecutable_AddressableDeviceLogicalIds(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_LoadedExecutable_AddressableDeviceLogicalIds(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_LoadedExecutable_AddressableDeviceLogicalIds(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Buffer_Bitcast(PJRT_Buffer_Bitcast_Args* args) {
  framedex::recorder::Call call(first_function + 131);
  if (call.is_recording()) {
    inputs_PJRT_Buffer_Bitcast(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Buffer_Bitcast(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Buffer_Bitcast(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Error_ForEachPayload(PJRT_Error_ForEachPayload_Args* args) {
  framedex::recorder::Call call(first_function + 132);
  if (call.is_recording()) {
    inputs_PJRT_Error_ForEachPayload(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Error_ForEachPayload(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Error_ForEachPayload(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_TopologyDescription_Fingerprint(PJRT_TopologyDescription_Fingerprint_Args* args) {
  framedex::recorder::Call call(first_function + 133);
  if (call.is_recording()) {
    inputs_PJRT_TopologyDescription_Fingerprint(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_TopologyDescription_Fingerprint(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_TopologyDescription_Fingerprint(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Executable_ParameterMemoryKinds(PJRT_Executable_ParameterMemoryKinds_Args* args) {
  framedex::recorder::Call call(first_function + 134);
  if (call.is_recording()) {
    inputs_PJRT_Executable_ParameterMemoryKinds(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Executable_ParameterMemoryKinds(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Executable_ParameterMemoryKinds(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_Device_ClearMemoryStats(PJRT_Device_ClearMemoryStats_Args* args) {
  framedex::recorder::Call call(first_function + 135);
  if (call.is_recording()) {
    inputs_PJRT_Device_ClearMemoryStats(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_Device_ClearMemoryStats(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_Device_ClearMemoryStats(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_TopologyDescription_MakeCanonicalShapeForMemorySpace(PJRT_TopologyDescription_MakeCanonicalShapeForMemorySpace_Args* args) {
  framedex::recorder::Call call(first_function + 136);
  if (call.is_recording()) {
    inputs_PJRT_TopologyDescription_MakeCanonicalShapeForMemorySpace(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_TopologyDescription_MakeCanonicalShapeForMemorySpace(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_TopologyDescription_MakeCanonicalShapeForMemorySpace(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
PJRT_Error* PJRT_TopologyDescription_GetMemorySpaceKindIds(PJRT_TopologyDescription_GetMemorySpaceKindIds_Args* args) {
  framedex::recorder::Call call(first_function + 137);
  if (call.is_recording()) {
    inputs_PJRT_TopologyDescription_GetMemorySpaceKindIds(args, call.arguments());
    call.enter();
  }
  PJRT_Error* error = plugin->PJRT_TopologyDescription_GetMemorySpaceKindIds(args);
  if (call.is_recording()) {
    if (error == nullptr) outputs_PJRT_TopologyDescription_GetMemorySpaceKindIds(args, call.arguments());
    leave(call, plugin, error);
  }
  return error;
}
}
namespace framedex::pjrt {
const PJRT_Api* trace(const PJRT_Api* inner) {
  static const recorder::Function functions[] = {
      {"pjrt", "PJRT_Error_Destroy", names_PJRT_Error_Destroy, 1},
      {"pjrt", "PJRT_Error_Message", names_PJRT_Error_Message, 2},
      {"pjrt", "PJRT_Error_GetCode", names_PJRT_Error_GetCode, 2},
      {"pjrt", "PJRT_Plugin_Initialize", names_PJRT_Plugin_Initialize, 0},
      {"pjrt", "PJRT_Plugin_Attributes", names_PJRT_Plugin_Attributes, 1},
      {"pjrt", "PJRT_Event_Destroy", names_PJRT_Event_Destroy, 1},
      {"pjrt", "PJRT_Event_IsReady", names_PJRT_Event_IsReady, 2},
      {"pjrt", "PJRT_Event_Error", names_PJRT_Event_Error, 1},
      {"pjrt", "PJRT_Event_Await", names_PJRT_Event_Await, 1},
      {"pjrt", "PJRT_Event_OnReady", names_PJRT_Event_OnReady, 2},
      {"pjrt", "PJRT_Client_Create", names_PJRT_Client_Create, 5},
      {"pjrt", "PJRT_Client_Destroy", names_PJRT_Client_Destroy, 1},
      {"pjrt", "PJRT_Client_PlatformName", names_PJRT_Client_PlatformName, 2},
      {"pjrt", "PJRT_Client_ProcessIndex", names_PJRT_Client_ProcessIndex, 2},
      {"pjrt", "PJRT_Client_PlatformVersion", names_PJRT_Client_PlatformVersion, 2},
      {"pjrt", "PJRT_Client_Devices", names_PJRT_Client_Devices, 2},
      {"pjrt", "PJRT_Client_AddressableDevices", names_PJRT_Client_AddressableDevices, 2},
      {"pjrt", "PJRT_Client_LookupDevice", names_PJRT_Client_LookupDevice, 3},
      {"pjrt", "PJRT_Client_LookupAddressableDevice", names_PJRT_Client_LookupAddressableDevice, 3},
      {"pjrt", "PJRT_Client_AddressableMemories", names_PJRT_Client_AddressableMemories, 2},
      {"pjrt", "PJRT_Client_Compile", names_PJRT_Client_Compile, 5},
      {"pjrt", "PJRT_Client_DefaultDeviceAssignment", names_PJRT_Client_DefaultDeviceAssignment, 4},
      {"pjrt", "PJRT_Client_BufferFromHostBuffer", names_PJRT_Client_BufferFromHostBuffer, 12},
      {"pjrt", "PJRT_DeviceDescription_Id", names_PJRT_DeviceDescription_Id, 2},
      {"pjrt", "PJRT_DeviceDescription_ProcessIndex", names_PJRT_DeviceDescription_ProcessIndex, 2},
      {"pjrt", "PJRT_DeviceDescription_Attributes", names_PJRT_DeviceDescription_Attributes, 2},
      {"pjrt", "PJRT_DeviceDescription_Kind", names_PJRT_DeviceDescription_Kind, 2},
      {"pjrt", "PJRT_DeviceDescription_DebugString", names_PJRT_DeviceDescription_DebugString, 2},
      {"pjrt", "PJRT_DeviceDescription_ToString", names_PJRT_DeviceDescription_ToString, 2},
      {"pjrt", "PJRT_Device_GetDescription", names_PJRT_Device_GetDescription, 2},
      {"pjrt", "PJRT_Device_IsAddressable", names_PJRT_Device_IsAddressable, 2},
      {"pjrt", "PJRT_Device_LocalHardwareId", names_PJRT_Device_LocalHardwareId, 2},
      {"pjrt", "PJRT_Device_AddressableMemories", names_PJRT_Device_AddressableMemories, 2},
      {"pjrt", "PJRT_Device_DefaultMemory", names_PJRT_Device_DefaultMemory, 2},
      {"pjrt", "PJRT_Device_MemoryStats", names_PJRT_Device_MemoryStats, 22},
      {"pjrt", "PJRT_Memory_Id", names_PJRT_Memory_Id, 2},
      {"pjrt", "PJRT_Memory_Kind", names_PJRT_Memory_Kind, 2},
      {"pjrt", "PJRT_Memory_DebugString", names_PJRT_Memory_DebugString, 2},
      {"pjrt", "PJRT_Memory_ToString", names_PJRT_Memory_ToString, 2},
      {"pjrt", "PJRT_Memory_AddressableByDevices", names_PJRT_Memory_AddressableByDevices, 2},
      {"pjrt", "PJRT_Executable_Destroy", names_PJRT_Executable_Destroy, 1},
      {"pjrt", "PJRT_Executable_Name", names_PJRT_Executable_Name, 2},
      {"pjrt", "PJRT_Executable_NumReplicas", names_PJRT_Executable_NumReplicas, 2},
      {"pjrt", "PJRT_Executable_NumPartitions", names_PJRT_Executable_NumPartitions, 2},
      {"pjrt", "PJRT_Executable_NumOutputs", names_PJRT_Executable_NumOutputs, 2},
      {"pjrt", "PJRT_Executable_SizeOfGeneratedCodeInBytes", names_PJRT_Executable_SizeOfGeneratedCodeInBytes, 2},
      {"pjrt", "PJRT_Executable_GetCostAnalysis", names_PJRT_Executable_GetCostAnalysis, 2},
      {"pjrt", "PJRT_Executable_OutputMemoryKinds", names_PJRT_Executable_OutputMemoryKinds, 4},
      {"pjrt", "PJRT_Executable_OptimizedProgram", names_PJRT_Executable_OptimizedProgram, 3},
      {"pjrt", "PJRT_Executable_Serialize", names_PJRT_Executable_Serialize, 3},
      {"pjrt", "PJRT_LoadedExecutable_Destroy", names_PJRT_LoadedExecutable_Destroy, 1},
      {"pjrt", "PJRT_LoadedExecutable_GetExecutable", names_PJRT_LoadedExecutable_GetExecutable, 2},
      {"pjrt", "PJRT_LoadedExecutable_AddressableDevices", names_PJRT_LoadedExecutable_AddressableDevices, 2},
      {"pjrt", "PJRT_LoadedExecutable_Delete", names_PJRT_LoadedExecutable_Delete, 1},
      {"pjrt", "PJRT_LoadedExecutable_IsDeleted", names_PJRT_LoadedExecutable_IsDeleted, 2},
      {"pjrt", "PJRT_LoadedExecutable_Execute", names_PJRT_LoadedExecutable_Execute, 21},
      {"pjrt", "PJRT_Executable_DeserializeAndLoad", names_PJRT_Executable_DeserializeAndLoad, 6},
      {"pjrt", "PJRT_LoadedExecutable_Fingerprint", names_PJRT_LoadedExecutable_Fingerprint, 2},
      {"pjrt", "PJRT_Buffer_Destroy", names_PJRT_Buffer_Destroy, 1},
      {"pjrt", "PJRT_Buffer_ElementType", names_PJRT_Buffer_ElementType, 2},
      {"pjrt", "PJRT_Buffer_Dimensions", names_PJRT_Buffer_Dimensions, 2},
      {"pjrt", "PJRT_Buffer_UnpaddedDimensions", names_PJRT_Buffer_UnpaddedDimensions, 2},
      {"pjrt", "PJRT_Buffer_DynamicDimensionIndices", names_PJRT_Buffer_DynamicDimensionIndices, 3},
      {"pjrt", "PJRT_Buffer_GetMemoryLayout", names_PJRT_Buffer_GetMemoryLayout, 2},
      {"pjrt", "PJRT_Buffer_OnDeviceSizeInBytes", names_PJRT_Buffer_OnDeviceSizeInBytes, 2},
      {"pjrt", "PJRT_Buffer_Device", names_PJRT_Buffer_Device, 2},
      {"pjrt", "PJRT_Buffer_Memory", names_PJRT_Buffer_Memory, 2},
      {"pjrt", "PJRT_Buffer_Delete", names_PJRT_Buffer_Delete, 1},
      {"pjrt", "PJRT_Buffer_IsDeleted", names_PJRT_Buffer_IsDeleted, 2},
      {"pjrt", "PJRT_Buffer_CopyToDevice", names_PJRT_Buffer_CopyToDevice, 3},
      {"pjrt", "PJRT_Buffer_ToHostBuffer", names_PJRT_Buffer_ToHostBuffer, 5},
      {"pjrt", "PJRT_Buffer_IsOnCpu", names_PJRT_Buffer_IsOnCpu, 2},
      {"pjrt", "PJRT_Buffer_ReadyEvent", names_PJRT_Buffer_ReadyEvent, 2},
      {"pjrt", "PJRT_Buffer_UnsafePointer", names_PJRT_Buffer_UnsafePointer, 2},
      {"pjrt", "PJRT_Buffer_IncreaseExternalReferenceCount", names_PJRT_Buffer_IncreaseExternalReferenceCount, 1},
      {"pjrt", "PJRT_Buffer_DecreaseExternalReferenceCount", names_PJRT_Buffer_DecreaseExternalReferenceCount, 1},
      {"pjrt", "PJRT_Buffer_OpaqueDeviceMemoryDataPointer", names_PJRT_Buffer_OpaqueDeviceMemoryDataPointer, 2},
      {"pjrt", "PJRT_CopyToDeviceStream_Destroy", names_PJRT_CopyToDeviceStream_Destroy, 1},
      {"pjrt", "PJRT_CopyToDeviceStream_AddChunk", names_PJRT_CopyToDeviceStream_AddChunk, 5},
      {"pjrt", "PJRT_CopyToDeviceStream_TotalBytes", names_PJRT_CopyToDeviceStream_TotalBytes, 2},
      {"pjrt", "PJRT_CopyToDeviceStream_GranuleSize", names_PJRT_CopyToDeviceStream_GranuleSize, 2},
      {"pjrt", "PJRT_CopyToDeviceStream_CurrentBytes", names_PJRT_CopyToDeviceStream_CurrentBytes, 2},
      {"pjrt", "PJRT_TopologyDescription_Create", names_PJRT_TopologyDescription_Create, 3},
      {"pjrt", "PJRT_TopologyDescription_Destroy", names_PJRT_TopologyDescription_Destroy, 1},
      {"pjrt", "PJRT_TopologyDescription_PlatformName", names_PJRT_TopologyDescription_PlatformName, 2},
      {"pjrt", "PJRT_TopologyDescription_PlatformVersion", names_PJRT_TopologyDescription_PlatformVersion, 2},
      {"pjrt", "PJRT_TopologyDescription_GetDeviceDescriptions", names_PJRT_TopologyDescription_GetDeviceDescriptions, 2},
      {"pjrt", "PJRT_TopologyDescription_Serialize", names_PJRT_TopologyDescription_Serialize, 3},
      {"pjrt", "PJRT_TopologyDescription_Attributes", names_PJRT_TopologyDescription_Attributes, 2},
      {"pjrt", "PJRT_Compile", names_PJRT_Compile, 6},
      {"pjrt", "PJRT_Executable_OutputElementTypes", names_PJRT_Executable_OutputElementTypes, 2},
      {"pjrt", "PJRT_Executable_OutputDimensions", names_PJRT_Executable_OutputDimensions, 4},
      {"pjrt", "PJRT_Buffer_CopyToMemory", names_PJRT_Buffer_CopyToMemory, 3},
      {"pjrt", "PJRT_Client_CreateViewOfDeviceBuffer", names_PJRT_Client_CreateViewOfDeviceBuffer, 11},
      {"pjrt", "PJRT_Executable_Fingerprint", names_PJRT_Executable_Fingerprint, 2},
      {"pjrt", "PJRT_Client_TopologyDescription", names_PJRT_Client_TopologyDescription, 2},
      {"pjrt", "PJRT_Executable_GetCompiledMemoryStats", names_PJRT_Executable_GetCompiledMemoryStats, 16},
      {"pjrt", "PJRT_Memory_Kind_Id", names_PJRT_Memory_Kind_Id, 2},
      {"pjrt", "PJRT_ExecuteContext_Create", names_PJRT_ExecuteContext_Create, 1},
      {"pjrt", "PJRT_ExecuteContext_Destroy", names_PJRT_ExecuteContext_Destroy, 1},
      {"pjrt", "PJRT_Buffer_CopyRawToHost", names_PJRT_Buffer_CopyRawToHost, 5},
      {"pjrt", "PJRT_AsyncHostToDeviceTransferManager_Destroy", names_PJRT_AsyncHostToDeviceTransferManager_Destroy, 1},
      {"pjrt", "PJRT_AsyncHostToDeviceTransferManager_TransferData", names_PJRT_AsyncHostToDeviceTransferManager_TransferData, 7},
      {"pjrt", "PJRT_Client_CreateBuffersForAsyncHostToDevice", names_PJRT_Client_CreateBuffersForAsyncHostToDevice, 7},
      {"pjrt", "PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer", names_PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer, 3},
      {"pjrt", "PJRT_AsyncHostToDeviceTransferManager_Device", names_PJRT_AsyncHostToDeviceTransferManager_Device, 2},
      {"pjrt", "PJRT_AsyncHostToDeviceTransferManager_BufferCount", names_PJRT_AsyncHostToDeviceTransferManager_BufferCount, 2},
      {"pjrt", "PJRT_AsyncHostToDeviceTransferManager_BufferSize", names_PJRT_AsyncHostToDeviceTransferManager_BufferSize, 3},
      {"pjrt", "PJRT_AsyncHostToDeviceTransferManager_SetBufferError", names_PJRT_AsyncHostToDeviceTransferManager_SetBufferError, 4},
      {"pjrt", "PJRT_AsyncHostToDeviceTransferManager_AddMetadata", names_PJRT_AsyncHostToDeviceTransferManager_AddMetadata, 2},
      {"pjrt", "PJRT_Client_DmaMap", names_PJRT_Client_DmaMap, 3},
      {"pjrt", "PJRT_Client_DmaUnmap", names_PJRT_Client_DmaUnmap, 2},
      {"pjrt", "PJRT_Client_CreateUninitializedBuffer", names_PJRT_Client_CreateUninitializedBuffer, 7},
      {"pjrt", "PJRT_Client_UpdateGlobalProcessInfo", names_PJRT_Client_UpdateGlobalProcessInfo, 6},
      {"pjrt", "PJRT_TopologyDescription_Deserialize", names_PJRT_TopologyDescription_Deserialize, 2},
      {"pjrt", "PJRT_Client_CreateAliasBuffer", names_PJRT_Client_CreateAliasBuffer, 7},
      {"pjrt", "PJRT_Client_FulfillAliasBuffer", names_PJRT_Client_FulfillAliasBuffer, 5},
      {"pjrt", "PJRT_LoadedExecutable_GetDeviceAssignment", names_PJRT_LoadedExecutable_GetDeviceAssignment, 3},
      {"pjrt", "PJRT_Client_CreateErrorBuffer", names_PJRT_Client_CreateErrorBuffer, 9},
      {"pjrt", "PJRT_AsyncHostToDeviceTransferManager_TransferLiteral", names_PJRT_AsyncHostToDeviceTransferManager_TransferLiteral, 7},
      {"pjrt", "PJRT_Buffer_CopyRawToHostFuture", names_PJRT_Buffer_CopyRawToHostFuture, 5},
      {"pjrt", "PJRT_Device_PoisonExecution", names_PJRT_Device_PoisonExecution, 6},
      {"pjrt", "PJRT_Device_CreateAsyncTrackingEvent", names_PJRT_Device_CreateAsyncTrackingEvent, 3},
      {"pjrt", "PJRT_AsyncTrackingEvent_Destroy", names_PJRT_AsyncTrackingEvent_Destroy, 1},
      {"pjrt", "PJRT_Executable_GetCompileOptions", names_PJRT_Executable_GetCompileOptions, 3},
      {"pjrt", "PJRT_Buffer_DonateWithControlDependency", names_PJRT_Buffer_DonateWithControlDependency, 3},
      {"pjrt", "PJRT_Event_Create", names_PJRT_Event_Create, 1},
      {"pjrt", "PJRT_Event_Set", names_PJRT_Event_Set, 3},
      {"pjrt", "PJRT_Device_GetAttributes", names_PJRT_Device_GetAttributes, 3},
      {"pjrt", "PJRT_Client_Load", names_PJRT_Client_Load, 4},
      {"pjrt", "PJRT_LoadedExecutable_AddressableDeviceLogicalIds", names_PJRT_LoadedExecutable_AddressableDeviceLogicalIds, 3},
      {"pjrt", "PJRT_Buffer_Bitcast", names_PJRT_Buffer_Bitcast, 6},
      {"pjrt", "PJRT_Error_ForEachPayload", names_PJRT_Error_ForEachPayload, 2},
      {"pjrt", "PJRT_TopologyDescription_Fingerprint", names_PJRT_TopologyDescription_Fingerprint, 2},
      {"pjrt", "PJRT_Executable_ParameterMemoryKinds", names_PJRT_Executable_ParameterMemoryKinds, 4},
      {"pjrt", "PJRT_Device_ClearMemoryStats", names_PJRT_Device_ClearMemoryStats, 1},
      {"pjrt", "PJRT_TopologyDescription_MakeCanonicalShapeForMemorySpace", names_PJRT_TopologyDescription_MakeCanonicalShapeForMemorySpace, 7},
      {"pjrt", "PJRT_TopologyDescription_GetMemorySpaceKindIds", names_PJRT_TopologyDescription_GetMemorySpaceKindIds, 2},
  };
  static PJRT_Api table;
  first_function = recorder::register_functions(functions, sizeof(functions) / sizeof(functions[0]));
  plugin = inner;
  copy_header(*inner, table);
  if (has(inner, &PJRT_Api::PJRT_Error_Destroy)) table.PJRT_Error_Destroy = ::PJRT_Error_Destroy;
  if (has(inner, &PJRT_Api::PJRT_Error_Message)) table.PJRT_Error_Message = ::PJRT_Error_Message;
  if (has(inner, &PJRT_Api::PJRT_Error_GetCode)) table.PJRT_Error_GetCode = ::PJRT_Error_GetCode;
  if (has(inner, &PJRT_Api::PJRT_Plugin_Initialize)) table.PJRT_Plugin_Initialize = ::PJRT_Plugin_Initialize;
  if (has(inner, &PJRT_Api::PJRT_Plugin_Attributes)) table.PJRT_Plugin_Attributes = ::PJRT_Plugin_Attributes;
  if (has(inner, &PJRT_Api::PJRT_Event_Destroy)) table.PJRT_Event_Destroy = ::PJRT_Event_Destroy;
  if (has(inner, &PJRT_Api::PJRT_Event_IsReady)) table.PJRT_Event_IsReady = ::PJRT_Event_IsReady;
  if (has(inner, &PJRT_Api::PJRT_Event_Error)) table.PJRT_Event_Error = ::PJRT_Event_Error;
  if (has(inner, &PJRT_Api::PJRT_Event_Await)) table.PJRT_Event_Await = ::PJRT_Event_Await;
  if (has(inner, &PJRT_Api::PJRT_Event_OnReady)) table.PJRT_Event_OnReady = ::PJRT_Event_OnReady;
  if (has(inner, &PJRT_Api::PJRT_Client_Create)) table.PJRT_Client_Create = ::PJRT_Client_Create;
  if (has(inner, &PJRT_Api::PJRT_Client_Destroy)) table.PJRT_Client_Destroy = ::PJRT_Client_Destroy;
  if (has(inner, &PJRT_Api::PJRT_Client_PlatformName)) table.PJRT_Client_PlatformName = ::PJRT_Client_PlatformName;
  if (has(inner, &PJRT_Api::PJRT_Client_ProcessIndex)) table.PJRT_Client_ProcessIndex = ::PJRT_Client_ProcessIndex;
  if (has(inner, &PJRT_Api::PJRT_Client_PlatformVersion)) table.PJRT_Client_PlatformVersion = ::PJRT_Client_PlatformVersion;
  if (has(inner, &PJRT_Api::PJRT_Client_Devices)) table.PJRT_Client_Devices = ::PJRT_Client_Devices;
  if (has(inner, &PJRT_Api::PJRT_Client_AddressableDevices)) table.PJRT_Client_AddressableDevices = ::PJRT_Client_AddressableDevices;
  if (has(inner, &PJRT_Api::PJRT_Client_LookupDevice)) table.PJRT_Client_LookupDevice = ::PJRT_Client_LookupDevice;
  if (has(inner, &PJRT_Api::PJRT_Client_LookupAddressableDevice)) table.PJRT_Client_LookupAddressableDevice = ::PJRT_Client_LookupAddressableDevice;
  if (has(inner, &PJRT_Api::PJRT_Client_AddressableMemories)) table.PJRT_Client_AddressableMemories = ::PJRT_Client_AddressableMemories;
  if (has(inner, &PJRT_Api::PJRT_Client_Compile)) table.PJRT_Client_Compile = ::PJRT_Client_Compile;
  if (has(inner, &PJRT_Api::PJRT_Client_DefaultDeviceAssignment)) table.PJRT_Client_DefaultDeviceAssignment = ::PJRT_Client_DefaultDeviceAssignment;
  if (has(inner, &PJRT_Api::PJRT_Client_BufferFromHostBuffer)) table.PJRT_Client_BufferFromHostBuffer = ::PJRT_Client_BufferFromHostBuffer;
  if (has(inner, &PJRT_Api::PJRT_DeviceDescription_Id)) table.PJRT_DeviceDescription_Id = ::PJRT_DeviceDescription_Id;
  if (has(inner, &PJRT_Api::PJRT_DeviceDescription_ProcessIndex)) table.PJRT_DeviceDescription_ProcessIndex = ::PJRT_DeviceDescription_ProcessIndex;
  if (has(inner, &PJRT_Api::PJRT_DeviceDescription_Attributes)) table.PJRT_DeviceDescription_Attributes = ::PJRT_DeviceDescription_Attributes;
  if (has(inner, &PJRT_Api::PJRT_DeviceDescription_Kind)) table.PJRT_DeviceDescription_Kind = ::PJRT_DeviceDescription_Kind;
  if (has(inner, &PJRT_Api::PJRT_DeviceDescription_DebugString)) table.PJRT_DeviceDescription_DebugString = ::PJRT_DeviceDescription_DebugString;
  if (has(inner, &PJRT_Api::PJRT_DeviceDescription_ToString)) table.PJRT_DeviceDescription_ToString = ::PJRT_DeviceDescription_ToString;
  if (has(inner, &PJRT_Api::PJRT_Device_GetDescription)) table.PJRT_Device_GetDescription = ::PJRT_Device_GetDescription;
  if (has(inner, &PJRT_Api::PJRT_Device_IsAddressable)) table.PJRT_Device_IsAddressable = ::PJRT_Device_IsAddressable;
  if (has(inner, &PJRT_Api::PJRT_Device_LocalHardwareId)) table.PJRT_Device_LocalHardwareId = ::PJRT_Device_LocalHardwareId;
  if (has(inner, &PJRT_Api::PJRT_Device_AddressableMemories)) table.PJRT_Device_AddressableMemories = ::PJRT_Device_AddressableMemories;
  if (has(inner, &PJRT_Api::PJRT_Device_DefaultMemory)) table.PJRT_Device_DefaultMemory = ::PJRT_Device_DefaultMemory;
  if (has(inner, &PJRT_Api::PJRT_Device_MemoryStats)) table.PJRT_Device_MemoryStats = ::PJRT_Device_MemoryStats;
  if (has(inner, &PJRT_Api::PJRT_Memory_Id)) table.PJRT_Memory_Id = ::PJRT_Memory_Id;
  if (has(inner, &PJRT_Api::PJRT_Memory_Kind)) table.PJRT_Memory_Kind = ::PJRT_Memory_Kind;
  if (has(inner, &PJRT_Api::PJRT_Memory_DebugString)) table.PJRT_Memory_DebugString = ::PJRT_Memory_DebugString;
  if (has(inner, &PJRT_Api::PJRT_Memory_ToString)) table.PJRT_Memory_ToString = ::PJRT_Memory_ToString;
  if (has(inner, &PJRT_Api::PJRT_Memory_AddressableByDevices)) table.PJRT_Memory_AddressableByDevices = ::PJRT_Memory_AddressableByDevices;
  if (has(inner, &PJRT_Api::PJRT_Executable_Destroy)) table.PJRT_Executable_Destroy = ::PJRT_Executable_Destroy;
  if (has(inner, &PJRT_Api::PJRT_Executable_Name)) table.PJRT_Executable_Name = ::PJRT_Executable_Name;
  if (has(inner, &PJRT_Api::PJRT_Executable_NumReplicas)) table.PJRT_Executable_NumReplicas = ::PJRT_Executable_NumReplicas;
  if (has(inner, &PJRT_Api::PJRT_Executable_NumPartitions)) table.PJRT_Executable_NumPartitions = ::PJRT_Executable_NumPartitions;
  if (has(inner, &PJRT_Api::PJRT_Executable_NumOutputs)) table.PJRT_Executable_NumOutputs = ::PJRT_Executable_NumOutputs;
  if (has(inner, &PJRT_Api::PJRT_Executable_SizeOfGeneratedCodeInBytes)) table.PJRT_Executable_SizeOfGeneratedCodeInBytes = ::PJRT_Executable_SizeOfGeneratedCodeInBytes;
  if (has(inner, &PJRT_Api::PJRT_Executable_GetCostAnalysis)) table.PJRT_Executable_GetCostAnalysis = ::PJRT_Executable_GetCostAnalysis;
  if (has(inner, &PJRT_Api::PJRT_Executable_OutputMemoryKinds)) table.PJRT_Executable_OutputMemoryKinds = ::PJRT_Executable_OutputMemoryKinds;
  if (has(inner, &PJRT_Api::PJRT_Executable_OptimizedProgram)) table.PJRT_Executable_OptimizedProgram = ::PJRT_Executable_OptimizedProgram;
  if (has(inner, &PJRT_Api::PJRT_Executable_Serialize)) table.PJRT_Executable_Serialize = ::PJRT_Executable_Serialize;
  if (has(inner, &PJRT_Api::PJRT_LoadedExecutable_Destroy)) table.PJRT_LoadedExecutable_Destroy = ::PJRT_LoadedExecutable_Destroy;
  if (has(inner, &PJRT_Api::PJRT_LoadedExecutable_GetExecutable)) table.PJRT_LoadedExecutable_GetExecutable = ::PJRT_LoadedExecutable_GetExecutable;
  if (has(inner, &PJRT_Api::PJRT_LoadedExecutable_AddressableDevices)) table.PJRT_LoadedExecutable_AddressableDevices = ::PJRT_LoadedExecutable_AddressableDevices;
  if (has(inner, &PJRT_Api::PJRT_LoadedExecutable_Delete)) table.PJRT_LoadedExecutable_Delete = ::PJRT_LoadedExecutable_Delete;
  if (has(inner, &PJRT_Api::PJRT_LoadedExecutable_IsDeleted)) table.PJRT_LoadedExecutable_IsDeleted = ::PJRT_LoadedExecutable_IsDeleted;
  if (has(inner, &PJRT_Api::PJRT_LoadedExecutable_Execute)) table.PJRT_LoadedExecutable_Execute = ::PJRT_LoadedExecutable_Execute;
  if (has(inner, &PJRT_Api::PJRT_Executable_DeserializeAndLoad)) table.PJRT_Executable_DeserializeAndLoad = ::PJRT_Executable_DeserializeAndLoad;
  if (has(inner, &PJRT_Api::PJRT_LoadedExecutable_Fingerprint)) table.PJRT_LoadedExecutable_Fingerprint = ::PJRT_LoadedExecutable_Fingerprint;
  if (has(inner, &PJRT_Api::PJRT_Buffer_Destroy)) table.PJRT_Buffer_Destroy = ::PJRT_Buffer_Destroy;
  if (has(inner, &PJRT_Api::PJRT_Buffer_ElementType)) table.PJRT_Buffer_ElementType = ::PJRT_Buffer_ElementType;
  if (has(inner, &PJRT_Api::PJRT_Buffer_Dimensions)) table.PJRT_Buffer_Dimensions = ::PJRT_Buffer_Dimensions;
  if (has(inner, &PJRT_Api::PJRT_Buffer_UnpaddedDimensions)) table.PJRT_Buffer_UnpaddedDimensions = ::PJRT_Buffer_UnpaddedDimensions;
  if (has(inner, &PJRT_Api::PJRT_Buffer_DynamicDimensionIndices)) table.PJRT_Buffer_DynamicDimensionIndices = ::PJRT_Buffer_DynamicDimensionIndices;
  if (has(inner, &PJRT_Api::PJRT_Buffer_GetMemoryLayout)) table.PJRT_Buffer_GetMemoryLayout = ::PJRT_Buffer_GetMemoryLayout;
  if (has(inner, &PJRT_Api::PJRT_Buffer_OnDeviceSizeInBytes)) table.PJRT_Buffer_OnDeviceSizeInBytes = ::PJRT_Buffer_OnDeviceSizeInBytes;
  if (has(inner, &PJRT_Api::PJRT_Buffer_Device)) table.PJRT_Buffer_Device = ::PJRT_Buffer_Device;
  if (has(inner, &PJRT_Api::PJRT_Buffer_Memory)) table.PJRT_Buffer_Memory = ::PJRT_Buffer_Memory;
  if (has(inner, &PJRT_Api::PJRT_Buffer_Delete)) table.PJRT_Buffer_Delete = ::PJRT_Buffer_Delete;
  if (has(inner, &PJRT_Api::PJRT_Buffer_IsDeleted)) table.PJRT_Buffer_IsDeleted = ::PJRT_Buffer_IsDeleted;
  if (has(inner, &PJRT_Api::PJRT_Buffer_CopyToDevice)) table.PJRT_Buffer_CopyToDevice = ::PJRT_Buffer_CopyToDevice;
  if (has(inner, &PJRT_Api::PJRT_Buffer_ToHostBuffer)) table.PJRT_Buffer_ToHostBuffer = ::PJRT_Buffer_ToHostBuffer;
  if (has(inner, &PJRT_Api::PJRT_Buffer_IsOnCpu)) table.PJRT_Buffer_IsOnCpu = ::PJRT_Buffer_IsOnCpu;
  if (has(inner, &PJRT_Api::PJRT_Buffer_ReadyEvent)) table.PJRT_Buffer_ReadyEvent = ::PJRT_Buffer_ReadyEvent;
  if (has(inner, &PJRT_Api::PJRT_Buffer_UnsafePointer)) table.PJRT_Buffer_UnsafePointer = ::PJRT_Buffer_UnsafePointer;
  if (has(inner, &PJRT_Api::PJRT_Buffer_IncreaseExternalReferenceCount)) table.PJRT_Buffer_IncreaseExternalReferenceCount = ::PJRT_Buffer_IncreaseExternalReferenceCount;
  if (has(inner, &PJRT_Api::PJRT_Buffer_DecreaseExternalReferenceCount)) table.PJRT_Buffer_DecreaseExternalReferenceCount = ::PJRT_Buffer_DecreaseExternalReferenceCount;
  if (has(inner, &PJRT_Api::PJRT_Buffer_OpaqueDeviceMemoryDataPointer)) table.PJRT_Buffer_OpaqueDeviceMemoryDataPointer = ::PJRT_Buffer_OpaqueDeviceMemoryDataPointer;
  if (has(inner, &PJRT_Api::PJRT_CopyToDeviceStream_Destroy)) table.PJRT_CopyToDeviceStream_Destroy = ::PJRT_CopyToDeviceStream_Destroy;
  if (has(inner, &PJRT_Api::PJRT_CopyToDeviceStream_AddChunk)) table.PJRT_CopyToDeviceStream_AddChunk = ::PJRT_CopyToDeviceStream_AddChunk;
  if (has(inner, &PJRT_Api::PJRT_CopyToDeviceStream_TotalBytes)) table.PJRT_CopyToDeviceStream_TotalBytes = ::PJRT_CopyToDeviceStream_TotalBytes;
  if (has(inner, &PJRT_Api::PJRT_CopyToDeviceStream_GranuleSize)) table.PJRT_CopyToDeviceStream_GranuleSize = ::PJRT_CopyToDeviceStream_GranuleSize;
  if (has(inner, &PJRT_Api::PJRT_CopyToDeviceStream_CurrentBytes)) table.PJRT_CopyToDeviceStream_CurrentBytes = ::PJRT_CopyToDeviceStream_CurrentBytes;
  if (has(inner, &PJRT_Api::PJRT_TopologyDescription_Create)) table.PJRT_TopologyDescription_Create = ::PJRT_TopologyDescription_Create;
  if (has(inner, &PJRT_Api::PJRT_TopologyDescription_Destroy)) table.PJRT_TopologyDescription_Destroy = ::PJRT_TopologyDescription_Destroy;
  if (has(inner, &PJRT_Api::PJRT_TopologyDescription_PlatformName)) table.PJRT_TopologyDescription_PlatformName = ::PJRT_TopologyDescription_PlatformName;
  if (has(inner, &PJRT_Api::PJRT_TopologyDescription_PlatformVersion)) table.PJRT_TopologyDescription_PlatformVersion = ::PJRT_TopologyDescription_PlatformVersion;
  if (has(inner, &PJRT_Api::PJRT_TopologyDescription_GetDeviceDescriptions)) table.PJRT_TopologyDescription_GetDeviceDescriptions = ::PJRT_TopologyDescription_GetDeviceDescriptions;
  if (has(inner, &PJRT_Api::PJRT_TopologyDescription_Serialize)) table.PJRT_TopologyDescription_Serialize = ::PJRT_TopologyDescription_Serialize;
  if (has(inner, &PJRT_Api::PJRT_TopologyDescription_Attributes)) table.PJRT_TopologyDescription_Attributes = ::PJRT_TopologyDescription_Attributes;
  if (has(inner, &PJRT_Api::PJRT_Compile)) table.PJRT_Compile = ::PJRT_Compile;
  if (has(inner, &PJRT_Api::PJRT_Executable_OutputElementTypes)) table.PJRT_Executable_OutputElementTypes = ::PJRT_Executable_OutputElementTypes;
  if (has(inner, &PJRT_Api::PJRT_Executable_OutputDimensions)) table.PJRT_Executable_OutputDimensions = ::PJRT_Executable_OutputDimensions;
  if (has(inner, &PJRT_Api::PJRT_Buffer_CopyToMemory)) table.PJRT_Buffer_CopyToMemory = ::PJRT_Buffer_CopyToMemory;
  if (has(inner, &PJRT_Api::PJRT_Client_CreateViewOfDeviceBuffer)) table.PJRT_Client_CreateViewOfDeviceBuffer = ::PJRT_Client_CreateViewOfDeviceBuffer;
  if (has(inner, &PJRT_Api::PJRT_Executable_Fingerprint)) table.PJRT_Executable_Fingerprint = ::PJRT_Executable_Fingerprint;
  if (has(inner, &PJRT_Api::PJRT_Client_TopologyDescription)) table.PJRT_Client_TopologyDescription = ::PJRT_Client_TopologyDescription;
  if (has(inner, &PJRT_Api::PJRT_Executable_GetCompiledMemoryStats)) table.PJRT_Executable_GetCompiledMemoryStats = ::PJRT_Executable_GetCompiledMemoryStats;
  if (has(inner, &PJRT_Api::PJRT_Memory_Kind_Id)) table.PJRT_Memory_Kind_Id = ::PJRT_Memory_Kind_Id;
  if (has(inner, &PJRT_Api::PJRT_ExecuteContext_Create)) table.PJRT_ExecuteContext_Create = ::PJRT_ExecuteContext_Create;
  if (has(inner, &PJRT_Api::PJRT_ExecuteContext_Destroy)) table.PJRT_ExecuteContext_Destroy = ::PJRT_ExecuteContext_Destroy;
  if (has(inner, &PJRT_Api::PJRT_Buffer_CopyRawToHost)) table.PJRT_Buffer_CopyRawToHost = ::PJRT_Buffer_CopyRawToHost;
  if (has(inner, &PJRT_Api::PJRT_AsyncHostToDeviceTransferManager_Destroy)) table.PJRT_AsyncHostToDeviceTransferManager_Destroy = ::PJRT_AsyncHostToDeviceTransferManager_Destroy;
  if (has(inner, &PJRT_Api::PJRT_AsyncHostToDeviceTransferManager_TransferData)) table.PJRT_AsyncHostToDeviceTransferManager_TransferData = ::PJRT_AsyncHostToDeviceTransferManager_TransferData;
  if (has(inner, &PJRT_Api::PJRT_Client_CreateBuffersForAsyncHostToDevice)) table.PJRT_Client_CreateBuffersForAsyncHostToDevice = ::PJRT_Client_CreateBuffersForAsyncHostToDevice;
  if (has(inner, &PJRT_Api::PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer)) table.PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer = ::PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer;
  if (has(inner, &PJRT_Api::PJRT_AsyncHostToDeviceTransferManager_Device)) table.PJRT_AsyncHostToDeviceTransferManager_Device = ::PJRT_AsyncHostToDeviceTransferManager_Device;
  if (has(inner, &PJRT_Api::PJRT_AsyncHostToDeviceTransferManager_BufferCount)) table.PJRT_AsyncHostToDeviceTransferManager_BufferCount = ::PJRT_AsyncHostToDeviceTransferManager_BufferCount;
  if (has(inner, &PJRT_Api::PJRT_AsyncHostToDeviceTransferManager_BufferSize)) table.PJRT_AsyncHostToDeviceTransferManager_BufferSize = ::PJRT_AsyncHostToDeviceTransferManager_BufferSize;
  if (has(inner, &PJRT_Api::PJRT_AsyncHostToDeviceTransferManager_SetBufferError)) table.PJRT_AsyncHostToDeviceTransferManager_SetBufferError = ::PJRT_AsyncHostToDeviceTransferManager_SetBufferError;
  if (has(inner, &PJRT_Api::PJRT_AsyncHostToDeviceTransferManager_AddMetadata)) table.PJRT_AsyncHostToDeviceTransferManager_AddMetadata = ::PJRT_AsyncHostToDeviceTransferManager_AddMetadata;
  if (has(inner, &PJRT_Api::PJRT_Client_DmaMap)) table.PJRT_Client_DmaMap = ::PJRT_Client_DmaMap;
  if (has(inner, &PJRT_Api::PJRT_Client_DmaUnmap)) table.PJRT_Client_DmaUnmap = ::PJRT_Client_DmaUnmap;
  if (has(inner, &PJRT_Api::PJRT_Client_CreateUninitializedBuffer)) table.PJRT_Client_CreateUninitializedBuffer = ::PJRT_Client_CreateUninitializedBuffer;
  if (has(inner, &PJRT_Api::PJRT_Client_UpdateGlobalProcessInfo)) table.PJRT_Client_UpdateGlobalProcessInfo = ::PJRT_Client_UpdateGlobalProcessInfo;
  if (has(inner, &PJRT_Api::PJRT_TopologyDescription_Deserialize)) table.PJRT_TopologyDescription_Deserialize = ::PJRT_TopologyDescription_Deserialize;
  if (has(inner, &PJRT_Api::PJRT_Client_CreateAliasBuffer)) table.PJRT_Client_CreateAliasBuffer = ::PJRT_Client_CreateAliasBuffer;
  if (has(inner, &PJRT_Api::PJRT_Client_FulfillAliasBuffer)) table.PJRT_Client_FulfillAliasBuffer = ::PJRT_Client_FulfillAliasBuffer;
  if (has(inner, &PJRT_Api::PJRT_LoadedExecutable_GetDeviceAssignment)) table.PJRT_LoadedExecutable_GetDeviceAssignment = ::PJRT_LoadedExecutable_GetDeviceAssignment;
  if (has(inner, &PJRT_Api::PJRT_Client_CreateErrorBuffer)) table.PJRT_Client_CreateErrorBuffer = ::PJRT_Client_CreateErrorBuffer;
  if (has(inner, &PJRT_Api::PJRT_AsyncHostToDeviceTransferManager_TransferLiteral)) table.PJRT_AsyncHostToDeviceTransferManager_TransferLiteral = ::PJRT_AsyncHostToDeviceTransferManager_TransferLiteral;
  if (has(inner, &PJRT_Api::PJRT_Buffer_CopyRawToHostFuture)) table.PJRT_Buffer_CopyRawToHostFuture = ::PJRT_Buffer_CopyRawToHostFuture;
  if (has(inner, &PJRT_Api::PJRT_Device_PoisonExecution)) table.PJRT_Device_PoisonExecution = ::PJRT_Device_PoisonExecution;
  if (has(inner, &PJRT_Api::PJRT_Device_CreateAsyncTrackingEvent)) table.PJRT_Device_CreateAsyncTrackingEvent = ::PJRT_Device_CreateAsyncTrackingEvent;
  if (has(inner, &PJRT_Api::PJRT_AsyncTrackingEvent_Destroy)) table.PJRT_AsyncTrackingEvent_Destroy = ::PJRT_AsyncTrackingEvent_Destroy;
  if (has(inner, &PJRT_Api::PJRT_Executable_GetCompileOptions)) table.PJRT_Executable_GetCompileOptions = ::PJRT_Executable_GetCompileOptions;
  if (has(inner, &PJRT_Api::PJRT_Buffer_DonateWithControlDependency)) table.PJRT_Buffer_DonateWithControlDependency = ::PJRT_Buffer_DonateWithControlDependency;
  if (has(inner, &PJRT_Api::PJRT_Event_Create)) table.PJRT_Event_Create = ::PJRT_Event_Create;
  if (has(inner, &PJRT_Api::PJRT_Event_Set)) table.PJRT_Event_Set = ::PJRT_Event_Set;
  if (has(inner, &PJRT_Api::PJRT_Device_GetAttributes)) table.PJRT_Device_GetAttributes = ::PJRT_Device_GetAttributes;
  if (has(inner, &PJRT_Api::PJRT_Client_Load)) table.PJRT_Client_Load = ::PJRT_Client_Load;
  if (has(inner, &PJRT_Api::PJRT_LoadedExecutable_AddressableDeviceLogicalIds)) table.PJRT_LoadedExecutable_AddressableDeviceLogicalIds = ::PJRT_LoadedExecutable_AddressableDeviceLogicalIds;
  if (has(inner, &PJRT_Api::PJRT_Buffer_Bitcast)) table.PJRT_Buffer_Bitcast = ::PJRT_Buffer_Bitcast;
  if (has(inner, &PJRT_Api::PJRT_Error_ForEachPayload)) table.PJRT_Error_ForEachPayload = ::PJRT_Error_ForEachPayload;
  if (has(inner, &PJRT_Api::PJRT_TopologyDescription_Fingerprint)) table.PJRT_TopologyDescription_Fingerprint = ::PJRT_TopologyDescription_Fingerprint;
  if (has(inner, &PJRT_Api::PJRT_Executable_ParameterMemoryKinds)) table.PJRT_Executable_ParameterMemoryKinds = ::PJRT_Executable_ParameterMemoryKinds;
  if (has(inner, &PJRT_Api::PJRT_Device_ClearMemoryStats)) table.PJRT_Device_ClearMemoryStats = ::PJRT_Device_ClearMemoryStats;
  if (has(inner, &PJRT_Api::PJRT_TopologyDescription_MakeCanonicalShapeForMemorySpace)) table.PJRT_TopologyDescription_MakeCanonicalShapeForMemorySpace = ::PJRT_TopologyDescription_MakeCanonicalShapeForMemorySpace;
  if (has(inner, &PJRT_Api::PJRT_TopologyDescription_GetMemorySpaceKindIds)) table.PJRT_TopologyDescription_GetMemorySpaceKindIds = ::PJRT_TopologyDescription_GetMemorySpaceKindIds;
  return &table;
}
}  // namespace framedex::pjrt
