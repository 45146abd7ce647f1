// Generated from native/abi; do not edit.
#include "pjrt/mock/faults.h"
namespace framedex::mock {
namespace {
const PJRT_Api* inner = nullptr;
PJRT_Error* PJRT_Plugin_Initialize(PJRT_Plugin_Initialize_Args* args) {
  FaultyCall call(0);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_Plugin_Initialize(args);
  return error;
}
PJRT_Error* PJRT_Plugin_Attributes(PJRT_Plugin_Attributes_Args* args) {
  FaultyCall call(1);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_Plugin_Attributes(args);
  return error;
}
PJRT_Error* PJRT_Event_Destroy(PJRT_Event_Destroy_Args* args) {
  FaultyCall call(2);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_Event_Destroy(args);
  return error;
}
PJRT_Error* PJRT_Event_IsReady(PJRT_Event_IsReady_Args* args) {
  FaultyCall call(3);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_Event_IsReady(args);
  return error;
}
PJRT_Error* PJRT_Event_Error(PJRT_Event_Error_Args* args) {
  FaultyCall call(4);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_Event_Error(args);
  return error;
}
PJRT_Error* PJRT_Event_Await(PJRT_Event_Await_Args* args) {
  FaultyCall call(5);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_Event_Await(args);
  return error;
}
PJRT_Error* PJRT_Event_OnReady(PJRT_Event_OnReady_Args* args) {
  FaultyCall call(6);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_Event_OnReady(args);
  return error;
}
PJRT_Error* PJRT_Client_Create(PJRT_Client_Create_Args* args) {
  FaultyCall call(7);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_Client_Create(args);
  return error;
}
PJRT_Error* PJRT_Client_Destroy(PJRT_Client_Destroy_Args* args) {
  FaultyCall call(8);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_Client_Destroy(args);
  return error;
}
PJRT_Error* PJRT_Client_PlatformName(PJRT_Client_PlatformName_Args* args) {
  FaultyCall call(9);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_Client_PlatformName(args);
  return error;
}
PJRT_Error* PJRT_Client_ProcessIndex(PJRT_Client_ProcessIndex_Args* args) {
  FaultyCall call(10);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_Client_ProcessIndex(args);
  return error;
}
PJRT_Error* PJRT_Client_PlatformVersion(PJRT_Client_PlatformVersion_Args* args) {
  FaultyCall call(11);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_Client_PlatformVersion(args);
  return error;
}
PJRT_Error* PJRT_Client_Devices(PJRT_Client_Devices_Args* args) {
  FaultyCall call(12);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_Client_Devices(args);
  return error;
}
PJRT_Error* PJRT_Client_AddressableDevices(PJRT_Client_AddressableDevices_Args* args) {
  FaultyCall call(13);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_Client_AddressableDevices(args);
  return error;
}
PJRT_Error* PJRT_Client_LookupDevice(PJRT_Client_LookupDevice_Args* args) {
  FaultyCall call(14);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_Client_LookupDevice(args);
  return error;
}
PJRT_Error* PJRT_Client_LookupAddressableDevice(PJRT_Client_LookupAddressableDevice_Args* args) {
  FaultyCall call(15);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_Client_LookupAddressableDevice(args);
  return error;
}
PJRT_Error* PJRT_Client_AddressableMemories(PJRT_Client_AddressableMemories_Args* args) {
  FaultyCall call(16);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_Client_AddressableMemories(args);
  return error;
}
PJRT_Error* PJRT_Client_Compile(PJRT_Client_Compile_Args* args) {
  FaultyCall call(17);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_Client_Compile(args);
  return error;
}
PJRT_Error* PJRT_Client_DefaultDeviceAssignment(PJRT_Client_DefaultDeviceAssignment_Args* args) {
  FaultyCall call(18);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_Client_DefaultDeviceAssignment(args);
  return error;
}
PJRT_Error* PJRT_Client_BufferFromHostBuffer(PJRT_Client_BufferFromHostBuffer_Args* args) {
  FaultyCall call(19);
  if (PJRT_Error* error = call.device_failure([args](int device) { return is_on(*inner, args->device, device) || is_on(*inner, args->memory, device); }, false))
    return error;
  if (PJRT_Error* error = call.failure()) return error;
  args->done_with_host_buffer = nullptr;
  PJRT_Error* error = inner->PJRT_Client_BufferFromHostBuffer(args);
  if (error == nullptr) call.fail_event(args->done_with_host_buffer);
  return error;
}
PJRT_Error* PJRT_DeviceDescription_Id(PJRT_DeviceDescription_Id_Args* args) {
  FaultyCall call(20);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_DeviceDescription_Id(args);
  return error;
}
PJRT_Error* PJRT_DeviceDescription_ProcessIndex(PJRT_DeviceDescription_ProcessIndex_Args* args) {
  FaultyCall call(21);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_DeviceDescription_ProcessIndex(args);
  return error;
}
PJRT_Error* PJRT_DeviceDescription_Attributes(PJRT_DeviceDescription_Attributes_Args* args) {
  FaultyCall call(22);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_DeviceDescription_Attributes(args);
  return error;
}
PJRT_Error* PJRT_DeviceDescription_Kind(PJRT_DeviceDescription_Kind_Args* args) {
  FaultyCall call(23);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_DeviceDescription_Kind(args);
  return error;
}
PJRT_Error* PJRT_DeviceDescription_DebugString(PJRT_DeviceDescription_DebugString_Args* args) {
  FaultyCall call(24);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_DeviceDescription_DebugString(args);
  return error;
}
PJRT_Error* PJRT_DeviceDescription_ToString(PJRT_DeviceDescription_ToString_Args* args) {
  FaultyCall call(25);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_DeviceDescription_ToString(args);
  return error;
}
PJRT_Error* PJRT_Device_GetDescription(PJRT_Device_GetDescription_Args* args) {
  FaultyCall call(26);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_Device_GetDescription(args);
  return error;
}
PJRT_Error* PJRT_Device_IsAddressable(PJRT_Device_IsAddressable_Args* args) {
  FaultyCall call(27);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_Device_IsAddressable(args);
  return error;
}
PJRT_Error* PJRT_Device_LocalHardwareId(PJRT_Device_LocalHardwareId_Args* args) {
  FaultyCall call(28);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_Device_LocalHardwareId(args);
  return error;
}
PJRT_Error* PJRT_Device_AddressableMemories(PJRT_Device_AddressableMemories_Args* args) {
  FaultyCall call(29);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_Device_AddressableMemories(args);
  return error;
}
PJRT_Error* PJRT_Device_DefaultMemory(PJRT_Device_DefaultMemory_Args* args) {
  FaultyCall call(30);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_Device_DefaultMemory(args);
  return error;
}
PJRT_Error* PJRT_Device_MemoryStats(PJRT_Device_MemoryStats_Args* args) {
  FaultyCall call(31);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_Device_MemoryStats(args);
  return error;
}
PJRT_Error* PJRT_Memory_Id(PJRT_Memory_Id_Args* args) {
  FaultyCall call(32);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_Memory_Id(args);
  return error;
}
PJRT_Error* PJRT_Memory_Kind(PJRT_Memory_Kind_Args* args) {
  FaultyCall call(33);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_Memory_Kind(args);
  return error;
}
PJRT_Error* PJRT_Memory_DebugString(PJRT_Memory_DebugString_Args* args) {
  FaultyCall call(34);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_Memory_DebugString(args);
  return error;
}
PJRT_Error* PJRT_Memory_ToString(PJRT_Memory_ToString_Args* args) {
  FaultyCall call(35);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_Memory_ToString(args);
  return error;
}
PJRT_Error* PJRT_Memory_AddressableByDevices(PJRT_Memory_AddressableByDevices_Args* args) {
  FaultyCall call(36);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_Memory_AddressableByDevices(args);
  return error;
}
PJRT_Error* PJRT_Executable_Destroy(PJRT_Executable_Destroy_Args* args) {
  FaultyCall call(37);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_Executable_Destroy(args);
  return error;
}
PJRT_Error* PJRT_Executable_Name(PJRT_Executable_Name_Args* args) {
  FaultyCall call(38);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_Executable_Name(args);
  return error;
}
PJRT_Error* PJRT_Executable_NumReplicas(PJRT_Executable_NumReplicas_Args* args) {
  FaultyCall call(39);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_Executable_NumReplicas(args);
  return error;
}
PJRT_Error* PJRT_Executable_NumPartitions(PJRT_Executable_NumPartitions_Args* args) {
  FaultyCall call(40);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_Executable_NumPartitions(args);
  return error;
}
PJRT_Error* PJRT_Executable_NumOutputs(PJRT_Executable_NumOutputs_Args* args) {
  FaultyCall call(41);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_Executable_NumOutputs(args);
  return error;
}
PJRT_Error* PJRT_Executable_SizeOfGeneratedCodeInBytes(PJRT_Executable_SizeOfGeneratedCodeInBytes_Args* args) {
  FaultyCall call(42);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_Executable_SizeOfGeneratedCodeInBytes(args);
  return error;
}
PJRT_Error* PJRT_Executable_GetCostAnalysis(PJRT_Executable_GetCostAnalysis_Args* args) {
  FaultyCall call(43);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_Executable_GetCostAnalysis(args);
  return error;
}
PJRT_Error* PJRT_Executable_OutputMemoryKinds(PJRT_Executable_OutputMemoryKinds_Args* args) {
  FaultyCall call(44);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_Executable_OutputMemoryKinds(args);
  return error;
}
PJRT_Error* PJRT_Executable_OptimizedProgram(PJRT_Executable_OptimizedProgram_Args* args) {
  FaultyCall call(45);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_Executable_OptimizedProgram(args);
  return error;
}
PJRT_Error* PJRT_Executable_Serialize(PJRT_Executable_Serialize_Args* args) {
  FaultyCall call(46);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_Executable_Serialize(args);
  return error;
}
PJRT_Error* PJRT_LoadedExecutable_Destroy(PJRT_LoadedExecutable_Destroy_Args* args) {
  FaultyCall call(47);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_LoadedExecutable_Destroy(args);
  return error;
}
PJRT_Error* PJRT_LoadedExecutable_GetExecutable(PJRT_LoadedExecutable_GetExecutable_Args* args) {
  FaultyCall call(48);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_LoadedExecutable_GetExecutable(args);
  return error;
}
PJRT_Error* PJRT_LoadedExecutable_AddressableDevices(PJRT_LoadedExecutable_AddressableDevices_Args* args) {
  FaultyCall call(49);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_LoadedExecutable_AddressableDevices(args);
  return error;
}
PJRT_Error* PJRT_LoadedExecutable_Delete(PJRT_LoadedExecutable_Delete_Args* args) {
  FaultyCall call(50);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_LoadedExecutable_Delete(args);
  return error;
}
PJRT_Error* PJRT_LoadedExecutable_IsDeleted(PJRT_LoadedExecutable_IsDeleted_Args* args) {
  FaultyCall call(51);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_LoadedExecutable_IsDeleted(args);
  return error;
}
PJRT_Error* PJRT_LoadedExecutable_Execute(PJRT_LoadedExecutable_Execute_Args* args) {
  FaultyCall call(52);
  if (PJRT_Error* error = call.device_failure([args](int device) { return is_on(*inner, args->executable, device) || is_on(*inner, args->execute_device, device); }, true))
    return error;
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_LoadedExecutable_Execute(args);
  for (size_t i = 0; error == nullptr && args->device_complete_events != nullptr && i < args->num_devices; ++i)
    call.fail_event(args->device_complete_events[i]);
  return error;
}
PJRT_Error* PJRT_Executable_DeserializeAndLoad(PJRT_Executable_DeserializeAndLoad_Args* args) {
  FaultyCall call(53);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_Executable_DeserializeAndLoad(args);
  return error;
}
PJRT_Error* PJRT_LoadedExecutable_Fingerprint(PJRT_LoadedExecutable_Fingerprint_Args* args) {
  FaultyCall call(54);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_LoadedExecutable_Fingerprint(args);
  return error;
}
PJRT_Error* PJRT_Buffer_Destroy(PJRT_Buffer_Destroy_Args* args) {
  FaultyCall call(55);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_Buffer_Destroy(args);
  return error;
}
PJRT_Error* PJRT_Buffer_ElementType(PJRT_Buffer_ElementType_Args* args) {
  FaultyCall call(56);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_Buffer_ElementType(args);
  return error;
}
PJRT_Error* PJRT_Buffer_Dimensions(PJRT_Buffer_Dimensions_Args* args) {
  FaultyCall call(57);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_Buffer_Dimensions(args);
  return error;
}
PJRT_Error* PJRT_Buffer_UnpaddedDimensions(PJRT_Buffer_UnpaddedDimensions_Args* args) {
  FaultyCall call(58);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_Buffer_UnpaddedDimensions(args);
  return error;
}
PJRT_Error* PJRT_Buffer_DynamicDimensionIndices(PJRT_Buffer_DynamicDimensionIndices_Args* args) {
  FaultyCall call(59);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_Buffer_DynamicDimensionIndices(args);
  return error;
}
PJRT_Error* PJRT_Buffer_GetMemoryLayout(PJRT_Buffer_GetMemoryLayout_Args* args) {
  FaultyCall call(60);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_Buffer_GetMemoryLayout(args);
  return error;
}
PJRT_Error* PJRT_Buffer_OnDeviceSizeInBytes(PJRT_Buffer_OnDeviceSizeInBytes_Args* args) {
  FaultyCall call(61);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_Buffer_OnDeviceSizeInBytes(args);
  return error;
}
PJRT_Error* PJRT_Buffer_Device(PJRT_Buffer_Device_Args* args) {
  FaultyCall call(62);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_Buffer_Device(args);
  return error;
}
PJRT_Error* PJRT_Buffer_Memory(PJRT_Buffer_Memory_Args* args) {
  FaultyCall call(63);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_Buffer_Memory(args);
  return error;
}
PJRT_Error* PJRT_Buffer_Delete(PJRT_Buffer_Delete_Args* args) {
  FaultyCall call(64);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_Buffer_Delete(args);
  return error;
}
PJRT_Error* PJRT_Buffer_IsDeleted(PJRT_Buffer_IsDeleted_Args* args) {
  FaultyCall call(65);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_Buffer_IsDeleted(args);
  return error;
}
PJRT_Error* PJRT_Buffer_CopyToDevice(PJRT_Buffer_CopyToDevice_Args* args) {
  FaultyCall call(66);
  if (PJRT_Error* error = call.device_failure([args](int device) { return is_on(*inner, args->buffer, device) || is_on(*inner, args->dst_device, device); }, false))
    return error;
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_Buffer_CopyToDevice(args);
  return error;
}
PJRT_Error* PJRT_Buffer_ToHostBuffer(PJRT_Buffer_ToHostBuffer_Args* args) {
  FaultyCall call(67);
  if (PJRT_Error* error = call.device_failure([args](int device) { return is_on(*inner, args->src, device); }, false))
    return error;
  if (PJRT_Error* error = call.failure()) return error;
  args->event = nullptr;
  PJRT_Error* error = inner->PJRT_Buffer_ToHostBuffer(args);
  if (error == nullptr) call.fail_event(args->event);
  return error;
}
PJRT_Error* PJRT_Buffer_IsOnCpu(PJRT_Buffer_IsOnCpu_Args* args) {
  FaultyCall call(68);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_Buffer_IsOnCpu(args);
  return error;
}
PJRT_Error* PJRT_Buffer_ReadyEvent(PJRT_Buffer_ReadyEvent_Args* args) {
  FaultyCall call(69);
  if (PJRT_Error* error = call.failure()) return error;
  args->event = nullptr;
  PJRT_Error* error = inner->PJRT_Buffer_ReadyEvent(args);
  if (error == nullptr) call.fail_event(args->event);
  return error;
}
PJRT_Error* PJRT_Buffer_UnsafePointer(PJRT_Buffer_UnsafePointer_Args* args) {
  FaultyCall call(70);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_Buffer_UnsafePointer(args);
  return error;
}
PJRT_Error* PJRT_Buffer_IncreaseExternalReferenceCount(PJRT_Buffer_IncreaseExternalReferenceCount_Args* args) {
  FaultyCall call(71);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_Buffer_IncreaseExternalReferenceCount(args);
  return error;
}
PJRT_Error* PJRT_Buffer_DecreaseExternalReferenceCount(PJRT_Buffer_DecreaseExternalReferenceCount_Args* args) {
  FaultyCall call(72);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_Buffer_DecreaseExternalReferenceCount(args);
  return error;
}
PJRT_Error* PJRT_Buffer_OpaqueDeviceMemoryDataPointer(PJRT_Buffer_OpaqueDeviceMemoryDataPointer_Args* args) {
  FaultyCall call(73);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_Buffer_OpaqueDeviceMemoryDataPointer(args);
  return error;
}
PJRT_Error* PJRT_CopyToDeviceStream_Destroy(PJRT_CopyToDeviceStream_Destroy_Args* args) {
  FaultyCall call(74);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_CopyToDeviceStream_Destroy(args);
  return error;
}
PJRT_Error* PJRT_CopyToDeviceStream_AddChunk(PJRT_CopyToDeviceStream_AddChunk_Args* args) {
  FaultyCall call(75);
  if (PJRT_Error* error = call.failure()) return error;
  args->transfer_complete = nullptr;
  PJRT_Error* error = inner->PJRT_CopyToDeviceStream_AddChunk(args);
  if (error == nullptr) call.fail_event(args->transfer_complete);
  return error;
}
PJRT_Error* PJRT_CopyToDeviceStream_TotalBytes(PJRT_CopyToDeviceStream_TotalBytes_Args* args) {
  FaultyCall call(76);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_CopyToDeviceStream_TotalBytes(args);
  return error;
}
PJRT_Error* PJRT_CopyToDeviceStream_GranuleSize(PJRT_CopyToDeviceStream_GranuleSize_Args* args) {
  FaultyCall call(77);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_CopyToDeviceStream_GranuleSize(args);
  return error;
}
PJRT_Error* PJRT_CopyToDeviceStream_CurrentBytes(PJRT_CopyToDeviceStream_CurrentBytes_Args* args) {
  FaultyCall call(78);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_CopyToDeviceStream_CurrentBytes(args);
  return error;
}
PJRT_Error* PJRT_TopologyDescription_Create(PJRT_TopologyDescription_Create_Args* args) {
  FaultyCall call(79);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_TopologyDescription_Create(args);
  return error;
}
PJRT_Error* PJRT_TopologyDescription_Destroy(PJRT_TopologyDescription_Destroy_Args* args) {
  FaultyCall call(80);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_TopologyDescription_Destroy(args);
  return error;
}
PJRT_Error* PJRT_TopologyDescription_PlatformName(PJRT_TopologyDescription_PlatformName_Args* args) {
  FaultyCall call(81);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_TopologyDescription_PlatformName(args);
  return error;
}
PJRT_Error* PJRT_TopologyDescription_PlatformVersion(PJRT_TopologyDescription_PlatformVersion_Args* args) {
  FaultyCall call(82);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_TopologyDescription_PlatformVersion(args);
  return error;
}
PJRT_Error* PJRT_TopologyDescription_GetDeviceDescriptions(PJRT_TopologyDescription_GetDeviceDescriptions_Args* args) {
  FaultyCall call(83);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_TopologyDescription_GetDeviceDescriptions(args);
  return error;
}
PJRT_Error* PJRT_TopologyDescription_Serialize(PJRT_TopologyDescription_Serialize_Args* args) {
  FaultyCall call(84);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_TopologyDescription_Serialize(args);
  return error;
}
PJRT_Error* PJRT_TopologyDescription_Attributes(PJRT_TopologyDescription_Attributes_Args* args) {
  FaultyCall call(85);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_TopologyDescription_Attributes(args);
  return error;
}
PJRT_Error* PJRT_Compile(PJRT_Compile_Args* args) {
  FaultyCall call(86);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_Compile(args);
  return error;
}
PJRT_Error* PJRT_Executable_OutputElementTypes(PJRT_Executable_OutputElementTypes_Args* args) {
  FaultyCall call(87);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_Executable_OutputElementTypes(args);
  return error;
}
PJRT_Error* PJRT_Executable_OutputDimensions(PJRT_Executable_OutputDimensions_Args* args) {
  FaultyCall call(88);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_Executable_OutputDimensions(args);
  return error;
}
PJRT_Error* PJRT_Buffer_CopyToMemory(PJRT_Buffer_CopyToMemory_Args* args) {
  FaultyCall call(89);
  if (PJRT_Error* error = call.device_failure([args](int device) { return is_on(*inner, args->buffer, device) || is_on(*inner, args->dst_memory, device); }, false))
    return error;
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_Buffer_CopyToMemory(args);
  return error;
}
PJRT_Error* PJRT_Client_CreateViewOfDeviceBuffer(PJRT_Client_CreateViewOfDeviceBuffer_Args* args) {
  FaultyCall call(90);
  if (PJRT_Error* error = call.device_failure([args](int device) { return is_on(*inner, args->device, device) || is_on(*inner, args->memory, device); }, false))
    return error;
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_Client_CreateViewOfDeviceBuffer(args);
  return error;
}
PJRT_Error* PJRT_Executable_Fingerprint(PJRT_Executable_Fingerprint_Args* args) {
  FaultyCall call(91);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_Executable_Fingerprint(args);
  return error;
}
PJRT_Error* PJRT_Client_TopologyDescription(PJRT_Client_TopologyDescription_Args* args) {
  FaultyCall call(92);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_Client_TopologyDescription(args);
  return error;
}
PJRT_Error* PJRT_Executable_GetCompiledMemoryStats(PJRT_Executable_GetCompiledMemoryStats_Args* args) {
  FaultyCall call(93);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_Executable_GetCompiledMemoryStats(args);
  return error;
}
PJRT_Error* PJRT_Memory_Kind_Id(PJRT_Memory_Kind_Id_Args* args) {
  FaultyCall call(94);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_Memory_Kind_Id(args);
  return error;
}
PJRT_Error* PJRT_ExecuteContext_Create(PJRT_ExecuteContext_Create_Args* args) {
  FaultyCall call(95);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_ExecuteContext_Create(args);
  return error;
}
PJRT_Error* PJRT_ExecuteContext_Destroy(PJRT_ExecuteContext_Destroy_Args* args) {
  FaultyCall call(96);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_ExecuteContext_Destroy(args);
  return error;
}
PJRT_Error* PJRT_Buffer_CopyRawToHost(PJRT_Buffer_CopyRawToHost_Args* args) {
  FaultyCall call(97);
  if (PJRT_Error* error = call.device_failure([args](int device) { return is_on(*inner, args->buffer, device); }, false))
    return error;
  if (PJRT_Error* error = call.failure()) return error;
  args->event = nullptr;
  PJRT_Error* error = inner->PJRT_Buffer_CopyRawToHost(args);
  if (error == nullptr) call.fail_event(args->event);
  return error;
}
PJRT_Error* PJRT_AsyncHostToDeviceTransferManager_Destroy(PJRT_AsyncHostToDeviceTransferManager_Destroy_Args* args) {
  FaultyCall call(98);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_AsyncHostToDeviceTransferManager_Destroy(args);
  return error;
}
PJRT_Error* PJRT_AsyncHostToDeviceTransferManager_TransferData(PJRT_AsyncHostToDeviceTransferManager_TransferData_Args* args) {
  FaultyCall call(99);
  if (PJRT_Error* error = call.failure()) return error;
  args->done_with_h2d_transfer = nullptr;
  PJRT_Error* error = inner->PJRT_AsyncHostToDeviceTransferManager_TransferData(args);
  if (error == nullptr) call.fail_event(args->done_with_h2d_transfer);
  return error;
}
PJRT_Error* PJRT_Client_CreateBuffersForAsyncHostToDevice(PJRT_Client_CreateBuffersForAsyncHostToDevice_Args* args) {
  FaultyCall call(100);
  if (PJRT_Error* error = call.device_failure([args](int device) { return is_on(*inner, args->memory, device); }, false))
    return error;
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_Client_CreateBuffersForAsyncHostToDevice(args);
  return error;
}
PJRT_Error* PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer(PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer_Args* args) {
  FaultyCall call(101);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer(args);
  return error;
}
PJRT_Error* PJRT_AsyncHostToDeviceTransferManager_Device(PJRT_AsyncHostToDeviceTransferManager_Device_Args* args) {
  FaultyCall call(102);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_AsyncHostToDeviceTransferManager_Device(args);
  return error;
}
PJRT_Error* PJRT_AsyncHostToDeviceTransferManager_BufferCount(PJRT_AsyncHostToDeviceTransferManager_BufferCount_Args* args) {
  FaultyCall call(103);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_AsyncHostToDeviceTransferManager_BufferCount(args);
  return error;
}
PJRT_Error* PJRT_AsyncHostToDeviceTransferManager_BufferSize(PJRT_AsyncHostToDeviceTransferManager_BufferSize_Args* args) {
  FaultyCall call(104);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_AsyncHostToDeviceTransferManager_BufferSize(args);
  return error;
}
PJRT_Error* PJRT_AsyncHostToDeviceTransferManager_SetBufferError(PJRT_AsyncHostToDeviceTransferManager_SetBufferError_Args* args) {
  FaultyCall call(105);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_AsyncHostToDeviceTransferManager_SetBufferError(args);
  return error;
}
PJRT_Error* PJRT_AsyncHostToDeviceTransferManager_AddMetadata(PJRT_AsyncHostToDeviceTransferManager_AddMetadata_Args* args) {
  FaultyCall call(106);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_AsyncHostToDeviceTransferManager_AddMetadata(args);
  return error;
}
PJRT_Error* PJRT_Client_DmaMap(PJRT_Client_DmaMap_Args* args) {
  FaultyCall call(107);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_Client_DmaMap(args);
  return error;
}
PJRT_Error* PJRT_Client_DmaUnmap(PJRT_Client_DmaUnmap_Args* args) {
  FaultyCall call(108);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_Client_DmaUnmap(args);
  return error;
}
PJRT_Error* PJRT_Client_CreateUninitializedBuffer(PJRT_Client_CreateUninitializedBuffer_Args* args) {
  FaultyCall call(109);
  if (PJRT_Error* error = call.device_failure([args](int device) { return is_on(*inner, args->device, device) || is_on(*inner, args->memory, device); }, false))
    return error;
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_Client_CreateUninitializedBuffer(args);
  return error;
}
PJRT_Error* PJRT_Client_UpdateGlobalProcessInfo(PJRT_Client_UpdateGlobalProcessInfo_Args* args) {
  FaultyCall call(110);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_Client_UpdateGlobalProcessInfo(args);
  return error;
}
PJRT_Error* PJRT_TopologyDescription_Deserialize(PJRT_TopologyDescription_Deserialize_Args* args) {
  FaultyCall call(111);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_TopologyDescription_Deserialize(args);
  return error;
}
PJRT_Error* PJRT_Client_CreateAliasBuffer(PJRT_Client_CreateAliasBuffer_Args* args) {
  FaultyCall call(112);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_Client_CreateAliasBuffer(args);
  return error;
}
PJRT_Error* PJRT_Client_FulfillAliasBuffer(PJRT_Client_FulfillAliasBuffer_Args* args) {
  FaultyCall call(113);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_Client_FulfillAliasBuffer(args);
  return error;
}
PJRT_Error* PJRT_LoadedExecutable_GetDeviceAssignment(PJRT_LoadedExecutable_GetDeviceAssignment_Args* args) {
  FaultyCall call(114);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_LoadedExecutable_GetDeviceAssignment(args);
  return error;
}
PJRT_Error* PJRT_Client_CreateErrorBuffer(PJRT_Client_CreateErrorBuffer_Args* args) {
  FaultyCall call(115);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_Client_CreateErrorBuffer(args);
  return error;
}
PJRT_Error* PJRT_AsyncHostToDeviceTransferManager_TransferLiteral(PJRT_AsyncHostToDeviceTransferManager_TransferLiteral_Args* args) {
  FaultyCall call(116);
  if (PJRT_Error* error = call.failure()) return error;
  args->done_with_h2d_transfer = nullptr;
  PJRT_Error* error = inner->PJRT_AsyncHostToDeviceTransferManager_TransferLiteral(args);
  if (error == nullptr) call.fail_event(args->done_with_h2d_transfer);
  return error;
}
PJRT_Error* PJRT_Buffer_CopyRawToHostFuture(PJRT_Buffer_CopyRawToHostFuture_Args* args) {
  FaultyCall call(117);
  if (PJRT_Error* error = call.device_failure([args](int device) { return is_on(*inner, args->buffer, device); }, false))
    return error;
  if (PJRT_Error* error = call.failure()) return error;
  args->event = nullptr;
  PJRT_Error* error = inner->PJRT_Buffer_CopyRawToHostFuture(args);
  if (error == nullptr) call.fail_event(args->event);
  return error;
}
PJRT_Error* PJRT_Device_PoisonExecution(PJRT_Device_PoisonExecution_Args* args) {
  FaultyCall call(118);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_Device_PoisonExecution(args);
  return error;
}
PJRT_Error* PJRT_Device_CreateAsyncTrackingEvent(PJRT_Device_CreateAsyncTrackingEvent_Args* args) {
  FaultyCall call(119);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_Device_CreateAsyncTrackingEvent(args);
  return error;
}
PJRT_Error* PJRT_AsyncTrackingEvent_Destroy(PJRT_AsyncTrackingEvent_Destroy_Args* args) {
  FaultyCall call(120);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_AsyncTrackingEvent_Destroy(args);
  return error;
}
PJRT_Error* PJRT_Executable_GetCompileOptions(PJRT_Executable_GetCompileOptions_Args* args) {
  FaultyCall call(121);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_Executable_GetCompileOptions(args);
  return error;
}
PJRT_Error* PJRT_Buffer_DonateWithControlDependency(PJRT_Buffer_DonateWithControlDependency_Args* args) {
  FaultyCall call(122);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_Buffer_DonateWithControlDependency(args);
  return error;
}
PJRT_Error* PJRT_Event_Create(PJRT_Event_Create_Args* args) {
  FaultyCall call(123);
  if (PJRT_Error* error = call.failure()) return error;
  args->event = nullptr;
  PJRT_Error* error = inner->PJRT_Event_Create(args);
  if (error == nullptr) call.fail_event(args->event);
  return error;
}
PJRT_Error* PJRT_Event_Set(PJRT_Event_Set_Args* args) {
  FaultyCall call(124);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_Event_Set(args);
  return error;
}
PJRT_Error* PJRT_Device_GetAttributes(PJRT_Device_GetAttributes_Args* args) {
  FaultyCall call(125);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_Device_GetAttributes(args);
  return error;
}
PJRT_Error* PJRT_Client_Load(PJRT_Client_Load_Args* args) {
  FaultyCall call(126);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_Client_Load(args);
  return error;
}
PJRT_Error* PJRT_LoadedExecutable_AddressableDeviceLogicalIds(PJRT_LoadedExecutable_AddressableDeviceLogicalIds_Args* args) {
  FaultyCall call(127);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_LoadedExecutable_AddressableDeviceLogicalIds(args);
  return error;
}
PJRT_Error* PJRT_Buffer_Bitcast(PJRT_Buffer_Bitcast_Args* args) {
  FaultyCall call(128);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_Buffer_Bitcast(args);
  return error;
}
PJRT_Error* PJRT_TopologyDescription_Fingerprint(PJRT_TopologyDescription_Fingerprint_Args* args) {
  FaultyCall call(129);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_TopologyDescription_Fingerprint(args);
  return error;
}
PJRT_Error* PJRT_Executable_ParameterMemoryKinds(PJRT_Executable_ParameterMemoryKinds_Args* args) {
  FaultyCall call(130);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_Executable_ParameterMemoryKinds(args);
  return error;
}
PJRT_Error* PJRT_Device_ClearMemoryStats(PJRT_Device_ClearMemoryStats_Args* args) {
  FaultyCall call(131);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_Device_ClearMemoryStats(args);
  return error;
}
PJRT_Error* PJRT_TopologyDescription_MakeCanonicalShapeForMemorySpace(PJRT_TopologyDescription_MakeCanonicalShapeForMemorySpace_Args* args) {
  FaultyCall call(132);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_TopologyDescription_MakeCanonicalShapeForMemorySpace(args);
  return error;
}
PJRT_Error* PJRT_TopologyDescription_GetMemorySpaceKindIds(PJRT_TopologyDescription_GetMemorySpaceKindIds_Args* args) {
  FaultyCall call(133);
  if (PJRT_Error* error = call.failure()) return error;
  PJRT_Error* error = inner->PJRT_TopologyDescription_GetMemorySpaceKindIds(args);
  return error;
}
}  // namespace
const std::vector<FaultFunction> kFaultFunctions = {
    {"PJRT_Plugin_Initialize", false},
    {"PJRT_Plugin_Attributes", false},
    {"PJRT_Event_Destroy", false},
    {"PJRT_Event_IsReady", false},
    {"PJRT_Event_Error", false},
    {"PJRT_Event_Await", false},
    {"PJRT_Event_OnReady", false},
    {"PJRT_Client_Create", false},
    {"PJRT_Client_Destroy", false},
    {"PJRT_Client_PlatformName", false},
    {"PJRT_Client_ProcessIndex", false},
    {"PJRT_Client_PlatformVersion", false},
    {"PJRT_Client_Devices", false},
    {"PJRT_Client_AddressableDevices", false},
    {"PJRT_Client_LookupDevice", false},
    {"PJRT_Client_LookupAddressableDevice", false},
    {"PJRT_Client_AddressableMemories", false},
    {"PJRT_Client_Compile", false},
    {"PJRT_Client_DefaultDeviceAssignment", false},
    {"PJRT_Client_BufferFromHostBuffer", true},
    {"PJRT_DeviceDescription_Id", false},
    {"PJRT_DeviceDescription_ProcessIndex", false},
    {"PJRT_DeviceDescription_Attributes", false},
    {"PJRT_DeviceDescription_Kind", false},
    {"PJRT_DeviceDescription_DebugString", false},
    {"PJRT_DeviceDescription_ToString", false},
    {"PJRT_Device_GetDescription", false},
    {"PJRT_Device_IsAddressable", false},
    {"PJRT_Device_LocalHardwareId", false},
    {"PJRT_Device_AddressableMemories", false},
    {"PJRT_Device_DefaultMemory", false},
    {"PJRT_Device_MemoryStats", false},
    {"PJRT_Memory_Id", false},
    {"PJRT_Memory_Kind", false},
    {"PJRT_Memory_DebugString", false},
    {"PJRT_Memory_ToString", false},
    {"PJRT_Memory_AddressableByDevices", false},
    {"PJRT_Executable_Destroy", false},
    {"PJRT_Executable_Name", false},
    {"PJRT_Executable_NumReplicas", false},
    {"PJRT_Executable_NumPartitions", false},
    {"PJRT_Executable_NumOutputs", false},
    {"PJRT_Executable_SizeOfGeneratedCodeInBytes", false},
    {"PJRT_Executable_GetCostAnalysis", false},
    {"PJRT_Executable_OutputMemoryKinds", false},
    {"PJRT_Executable_OptimizedProgram", false},
    {"PJRT_Executable_Serialize", false},
    {"PJRT_LoadedExecutable_Destroy", false},
    {"PJRT_LoadedExecutable_GetExecutable", false},
    {"PJRT_LoadedExecutable_AddressableDevices", false},
    {"PJRT_LoadedExecutable_Delete", false},
    {"PJRT_LoadedExecutable_IsDeleted", false},
    {"PJRT_LoadedExecutable_Execute", true},
    {"PJRT_Executable_DeserializeAndLoad", false},
    {"PJRT_LoadedExecutable_Fingerprint", false},
    {"PJRT_Buffer_Destroy", false},
    {"PJRT_Buffer_ElementType", false},
    {"PJRT_Buffer_Dimensions", false},
    {"PJRT_Buffer_UnpaddedDimensions", false},
    {"PJRT_Buffer_DynamicDimensionIndices", false},
    {"PJRT_Buffer_GetMemoryLayout", false},
    {"PJRT_Buffer_OnDeviceSizeInBytes", false},
    {"PJRT_Buffer_Device", false},
    {"PJRT_Buffer_Memory", false},
    {"PJRT_Buffer_Delete", false},
    {"PJRT_Buffer_IsDeleted", false},
    {"PJRT_Buffer_CopyToDevice", false},
    {"PJRT_Buffer_ToHostBuffer", true},
    {"PJRT_Buffer_IsOnCpu", false},
    {"PJRT_Buffer_ReadyEvent", true},
    {"PJRT_Buffer_UnsafePointer", false},
    {"PJRT_Buffer_IncreaseExternalReferenceCount", false},
    {"PJRT_Buffer_DecreaseExternalReferenceCount", false},
    {"PJRT_Buffer_OpaqueDeviceMemoryDataPointer", false},
    {"PJRT_CopyToDeviceStream_Destroy", false},
    {"PJRT_CopyToDeviceStream_AddChunk", true},
    {"PJRT_CopyToDeviceStream_TotalBytes", false},
    {"PJRT_CopyToDeviceStream_GranuleSize", false},
    {"PJRT_CopyToDeviceStream_CurrentBytes", false},
    {"PJRT_TopologyDescription_Create", false},
    {"PJRT_TopologyDescription_Destroy", false},
    {"PJRT_TopologyDescription_PlatformName", false},
    {"PJRT_TopologyDescription_PlatformVersion", false},
    {"PJRT_TopologyDescription_GetDeviceDescriptions", false},
    {"PJRT_TopologyDescription_Serialize", false},
    {"PJRT_TopologyDescription_Attributes", false},
    {"PJRT_Compile", false},
    {"PJRT_Executable_OutputElementTypes", false},
    {"PJRT_Executable_OutputDimensions", false},
    {"PJRT_Buffer_CopyToMemory", false},
    {"PJRT_Client_CreateViewOfDeviceBuffer", false},
    {"PJRT_Executable_Fingerprint", false},
    {"PJRT_Client_TopologyDescription", false},
    {"PJRT_Executable_GetCompiledMemoryStats", false},
    {"PJRT_Memory_Kind_Id", false},
    {"PJRT_ExecuteContext_Create", false},
    {"PJRT_ExecuteContext_Destroy", false},
    {"PJRT_Buffer_CopyRawToHost", true},
    {"PJRT_AsyncHostToDeviceTransferManager_Destroy", false},
    {"PJRT_AsyncHostToDeviceTransferManager_TransferData", true},
    {"PJRT_Client_CreateBuffersForAsyncHostToDevice", false},
    {"PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer", false},
    {"PJRT_AsyncHostToDeviceTransferManager_Device", false},
    {"PJRT_AsyncHostToDeviceTransferManager_BufferCount", false},
    {"PJRT_AsyncHostToDeviceTransferManager_BufferSize", false},
    {"PJRT_AsyncHostToDeviceTransferManager_SetBufferError", false},
    {"PJRT_AsyncHostToDeviceTransferManager_AddMetadata", false},
    {"PJRT_Client_DmaMap", false},
    {"PJRT_Client_DmaUnmap", false},
    {"PJRT_Client_CreateUninitializedBuffer", false},
    {"PJRT_Client_UpdateGlobalProcessInfo", false},
    {"PJRT_TopologyDescription_Deserialize", false},
    {"PJRT_Client_CreateAliasBuffer", false},
    {"PJRT_Client_FulfillAliasBuffer", false},
    {"PJRT_LoadedExecutable_GetDeviceAssignment", false},
    {"PJRT_Client_CreateErrorBuffer", false},
    {"PJRT_AsyncHostToDeviceTransferManager_TransferLiteral", true},
    {"PJRT_Buffer_CopyRawToHostFuture", true},
    {"PJRT_Device_PoisonExecution", false},
    {"PJRT_Device_CreateAsyncTrackingEvent", false},
    {"PJRT_AsyncTrackingEvent_Destroy", false},
    {"PJRT_Executable_GetCompileOptions", false},
    {"PJRT_Buffer_DonateWithControlDependency", false},
    {"PJRT_Event_Create", false},
    {"PJRT_Event_Set", false},
    {"PJRT_Device_GetAttributes", false},
    {"PJRT_Client_Load", false},
    {"PJRT_LoadedExecutable_AddressableDeviceLogicalIds", false},
    {"PJRT_Buffer_Bitcast", false},
    {"PJRT_TopologyDescription_Fingerprint", false},
    {"PJRT_Executable_ParameterMemoryKinds", false},
    {"PJRT_Device_ClearMemoryStats", false},
    {"PJRT_TopologyDescription_MakeCanonicalShapeForMemorySpace", false},
    {"PJRT_TopologyDescription_GetMemorySpaceKindIds", false},
};
void wrap_with_faults(const PJRT_Api* api, PJRT_Api& wrapped) {
  inner = api;
  wrapped.PJRT_Plugin_Initialize = PJRT_Plugin_Initialize;
  wrapped.PJRT_Plugin_Attributes = PJRT_Plugin_Attributes;
  wrapped.PJRT_Event_Destroy = PJRT_Event_Destroy;
  wrapped.PJRT_Event_IsReady = PJRT_Event_IsReady;
  wrapped.PJRT_Event_Error = PJRT_Event_Error;
  wrapped.PJRT_Event_Await = PJRT_Event_Await;
  wrapped.PJRT_Event_OnReady = PJRT_Event_OnReady;
  wrapped.PJRT_Client_Create = PJRT_Client_Create;
  wrapped.PJRT_Client_Destroy = PJRT_Client_Destroy;
  wrapped.PJRT_Client_PlatformName = PJRT_Client_PlatformName;
  wrapped.PJRT_Client_ProcessIndex = PJRT_Client_ProcessIndex;
  wrapped.PJRT_Client_PlatformVersion = PJRT_Client_PlatformVersion;
  wrapped.PJRT_Client_Devices = PJRT_Client_Devices;
  wrapped.PJRT_Client_AddressableDevices = PJRT_Client_AddressableDevices;
  wrapped.PJRT_Client_LookupDevice = PJRT_Client_LookupDevice;
  wrapped.PJRT_Client_LookupAddressableDevice = PJRT_Client_LookupAddressableDevice;
  wrapped.PJRT_Client_AddressableMemories = PJRT_Client_AddressableMemories;
  wrapped.PJRT_Client_Compile = PJRT_Client_Compile;
  wrapped.PJRT_Client_DefaultDeviceAssignment = PJRT_Client_DefaultDeviceAssignment;
  wrapped.PJRT_Client_BufferFromHostBuffer = PJRT_Client_BufferFromHostBuffer;
  wrapped.PJRT_DeviceDescription_Id = PJRT_DeviceDescription_Id;
  wrapped.PJRT_DeviceDescription_ProcessIndex = PJRT_DeviceDescription_ProcessIndex;
  wrapped.PJRT_DeviceDescription_Attributes = PJRT_DeviceDescription_Attributes;
  wrapped.PJRT_DeviceDescription_Kind = PJRT_DeviceDescription_Kind;
  wrapped.PJRT_DeviceDescription_DebugString = PJRT_DeviceDescription_DebugString;
  wrapped.PJRT_DeviceDescription_ToString = PJRT_DeviceDescription_ToString;
  wrapped.PJRT_Device_GetDescription = PJRT_Device_GetDescription;
  wrapped.PJRT_Device_IsAddressable = PJRT_Device_IsAddressable;
  wrapped.PJRT_Device_LocalHardwareId = PJRT_Device_LocalHardwareId;
  wrapped.PJRT_Device_AddressableMemories = PJRT_Device_AddressableMemories;
  wrapped.PJRT_Device_DefaultMemory = PJRT_Device_DefaultMemory;
  wrapped.PJRT_Device_MemoryStats = PJRT_Device_MemoryStats;
  wrapped.PJRT_Memory_Id = PJRT_Memory_Id;
  wrapped.PJRT_Memory_Kind = PJRT_Memory_Kind;
  wrapped.PJRT_Memory_DebugString = PJRT_Memory_DebugString;
  wrapped.PJRT_Memory_ToString = PJRT_Memory_ToString;
  wrapped.PJRT_Memory_AddressableByDevices = PJRT_Memory_AddressableByDevices;
  wrapped.PJRT_Executable_Destroy = PJRT_Executable_Destroy;
  wrapped.PJRT_Executable_Name = PJRT_Executable_Name;
  wrapped.PJRT_Executable_NumReplicas = PJRT_Executable_NumReplicas;
  wrapped.PJRT_Executable_NumPartitions = PJRT_Executable_NumPartitions;
  wrapped.PJRT_Executable_NumOutputs = PJRT_Executable_NumOutputs;
  wrapped.PJRT_Executable_SizeOfGeneratedCodeInBytes = PJRT_Executable_SizeOfGeneratedCodeInBytes;
  wrapped.PJRT_Executable_GetCostAnalysis = PJRT_Executable_GetCostAnalysis;
  wrapped.PJRT_Executable_OutputMemoryKinds = PJRT_Executable_OutputMemoryKinds;
  wrapped.PJRT_Executable_OptimizedProgram = PJRT_Executable_OptimizedProgram;
  wrapped.PJRT_Executable_Serialize = PJRT_Executable_Serialize;
  wrapped.PJRT_LoadedExecutable_Destroy = PJRT_LoadedExecutable_Destroy;
  wrapped.PJRT_LoadedExecutable_GetExecutable = PJRT_LoadedExecutable_GetExecutable;
  wrapped.PJRT_LoadedExecutable_AddressableDevices = PJRT_LoadedExecutable_AddressableDevices;
  wrapped.PJRT_LoadedExecutable_Delete = PJRT_LoadedExecutable_Delete;
  wrapped.PJRT_LoadedExecutable_IsDeleted = PJRT_LoadedExecutable_IsDeleted;
  wrapped.PJRT_LoadedExecutable_Execute = PJRT_LoadedExecutable_Execute;
  wrapped.PJRT_Executable_DeserializeAndLoad = PJRT_Executable_DeserializeAndLoad;
  wrapped.PJRT_LoadedExecutable_Fingerprint = PJRT_LoadedExecutable_Fingerprint;
  wrapped.PJRT_Buffer_Destroy = PJRT_Buffer_Destroy;
  wrapped.PJRT_Buffer_ElementType = PJRT_Buffer_ElementType;
  wrapped.PJRT_Buffer_Dimensions = PJRT_Buffer_Dimensions;
  wrapped.PJRT_Buffer_UnpaddedDimensions = PJRT_Buffer_UnpaddedDimensions;
  wrapped.PJRT_Buffer_DynamicDimensionIndices = PJRT_Buffer_DynamicDimensionIndices;
  wrapped.PJRT_Buffer_GetMemoryLayout = PJRT_Buffer_GetMemoryLayout;
  wrapped.PJRT_Buffer_OnDeviceSizeInBytes = PJRT_Buffer_OnDeviceSizeInBytes;
  wrapped.PJRT_Buffer_Device = PJRT_Buffer_Device;
  wrapped.PJRT_Buffer_Memory = PJRT_Buffer_Memory;
  wrapped.PJRT_Buffer_Delete = PJRT_Buffer_Delete;
  wrapped.PJRT_Buffer_IsDeleted = PJRT_Buffer_IsDeleted;
  wrapped.PJRT_Buffer_CopyToDevice = PJRT_Buffer_CopyToDevice;
  wrapped.PJRT_Buffer_ToHostBuffer = PJRT_Buffer_ToHostBuffer;
  wrapped.PJRT_Buffer_IsOnCpu = PJRT_Buffer_IsOnCpu;
  wrapped.PJRT_Buffer_ReadyEvent = PJRT_Buffer_ReadyEvent;
  wrapped.PJRT_Buffer_UnsafePointer = PJRT_Buffer_UnsafePointer;
  wrapped.PJRT_Buffer_IncreaseExternalReferenceCount = PJRT_Buffer_IncreaseExternalReferenceCount;
  wrapped.PJRT_Buffer_DecreaseExternalReferenceCount = PJRT_Buffer_DecreaseExternalReferenceCount;
  wrapped.PJRT_Buffer_OpaqueDeviceMemoryDataPointer = PJRT_Buffer_OpaqueDeviceMemoryDataPointer;
  wrapped.PJRT_CopyToDeviceStream_Destroy = PJRT_CopyToDeviceStream_Destroy;
  wrapped.PJRT_CopyToDeviceStream_AddChunk = PJRT_CopyToDeviceStream_AddChunk;
  wrapped.PJRT_CopyToDeviceStream_TotalBytes = PJRT_CopyToDeviceStream_TotalBytes;
  wrapped.PJRT_CopyToDeviceStream_GranuleSize = PJRT_CopyToDeviceStream_GranuleSize;
  wrapped.PJRT_CopyToDeviceStream_CurrentBytes = PJRT_CopyToDeviceStream_CurrentBytes;
  wrapped.PJRT_TopologyDescription_Create = PJRT_TopologyDescription_Create;
  wrapped.PJRT_TopologyDescription_Destroy = PJRT_TopologyDescription_Destroy;
  wrapped.PJRT_TopologyDescription_PlatformName = PJRT_TopologyDescription_PlatformName;
  wrapped.PJRT_TopologyDescription_PlatformVersion = PJRT_TopologyDescription_PlatformVersion;
  wrapped.PJRT_TopologyDescription_GetDeviceDescriptions = PJRT_TopologyDescription_GetDeviceDescriptions;
  wrapped.PJRT_TopologyDescription_Serialize = PJRT_TopologyDescription_Serialize;
  wrapped.PJRT_TopologyDescription_Attributes = PJRT_TopologyDescription_Attributes;
  wrapped.PJRT_Compile = PJRT_Compile;
  wrapped.PJRT_Executable_OutputElementTypes = PJRT_Executable_OutputElementTypes;
  wrapped.PJRT_Executable_OutputDimensions = PJRT_Executable_OutputDimensions;
  wrapped.PJRT_Buffer_CopyToMemory = PJRT_Buffer_CopyToMemory;
  wrapped.PJRT_Client_CreateViewOfDeviceBuffer = PJRT_Client_CreateViewOfDeviceBuffer;
  wrapped.PJRT_Executable_Fingerprint = PJRT_Executable_Fingerprint;
  wrapped.PJRT_Client_TopologyDescription = PJRT_Client_TopologyDescription;
  wrapped.PJRT_Executable_GetCompiledMemoryStats = PJRT_Executable_GetCompiledMemoryStats;
  wrapped.PJRT_Memory_Kind_Id = PJRT_Memory_Kind_Id;
  wrapped.PJRT_ExecuteContext_Create = PJRT_ExecuteContext_Create;
  wrapped.PJRT_ExecuteContext_Destroy = PJRT_ExecuteContext_Destroy;
  wrapped.PJRT_Buffer_CopyRawToHost = PJRT_Buffer_CopyRawToHost;
  wrapped.PJRT_AsyncHostToDeviceTransferManager_Destroy = PJRT_AsyncHostToDeviceTransferManager_Destroy;
  wrapped.PJRT_AsyncHostToDeviceTransferManager_TransferData = PJRT_AsyncHostToDeviceTransferManager_TransferData;
  wrapped.PJRT_Client_CreateBuffersForAsyncHostToDevice = PJRT_Client_CreateBuffersForAsyncHostToDevice;
  wrapped.PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer = PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer;
  wrapped.PJRT_AsyncHostToDeviceTransferManager_Device = PJRT_AsyncHostToDeviceTransferManager_Device;
  wrapped.PJRT_AsyncHostToDeviceTransferManager_BufferCount = PJRT_AsyncHostToDeviceTransferManager_BufferCount;
  wrapped.PJRT_AsyncHostToDeviceTransferManager_BufferSize = PJRT_AsyncHostToDeviceTransferManager_BufferSize;
  wrapped.PJRT_AsyncHostToDeviceTransferManager_SetBufferError = PJRT_AsyncHostToDeviceTransferManager_SetBufferError;
  wrapped.PJRT_AsyncHostToDeviceTransferManager_AddMetadata = PJRT_AsyncHostToDeviceTransferManager_AddMetadata;
  wrapped.PJRT_Client_DmaMap = PJRT_Client_DmaMap;
  wrapped.PJRT_Client_DmaUnmap = PJRT_Client_DmaUnmap;
  wrapped.PJRT_Client_CreateUninitializedBuffer = PJRT_Client_CreateUninitializedBuffer;
  wrapped.PJRT_Client_UpdateGlobalProcessInfo = PJRT_Client_UpdateGlobalProcessInfo;
  wrapped.PJRT_TopologyDescription_Deserialize = PJRT_TopologyDescription_Deserialize;
  wrapped.PJRT_Client_CreateAliasBuffer = PJRT_Client_CreateAliasBuffer;
  wrapped.PJRT_Client_FulfillAliasBuffer = PJRT_Client_FulfillAliasBuffer;
  wrapped.PJRT_LoadedExecutable_GetDeviceAssignment = PJRT_LoadedExecutable_GetDeviceAssignment;
  wrapped.PJRT_Client_CreateErrorBuffer = PJRT_Client_CreateErrorBuffer;
  wrapped.PJRT_AsyncHostToDeviceTransferManager_TransferLiteral = PJRT_AsyncHostToDeviceTransferManager_TransferLiteral;
  wrapped.PJRT_Buffer_CopyRawToHostFuture = PJRT_Buffer_CopyRawToHostFuture;
  wrapped.PJRT_Device_PoisonExecution = PJRT_Device_PoisonExecution;
  wrapped.PJRT_Device_CreateAsyncTrackingEvent = PJRT_Device_CreateAsyncTrackingEvent;
  wrapped.PJRT_AsyncTrackingEvent_Destroy = PJRT_AsyncTrackingEvent_Destroy;
  wrapped.PJRT_Executable_GetCompileOptions = PJRT_Executable_GetCompileOptions;
  wrapped.PJRT_Buffer_DonateWithControlDependency = PJRT_Buffer_DonateWithControlDependency;
  wrapped.PJRT_Event_Create = PJRT_Event_Create;
  wrapped.PJRT_Event_Set = PJRT_Event_Set;
  wrapped.PJRT_Device_GetAttributes = PJRT_Device_GetAttributes;
  wrapped.PJRT_Client_Load = PJRT_Client_Load;
  wrapped.PJRT_LoadedExecutable_AddressableDeviceLogicalIds = PJRT_LoadedExecutable_AddressableDeviceLogicalIds;
  wrapped.PJRT_Buffer_Bitcast = PJRT_Buffer_Bitcast;
  wrapped.PJRT_TopologyDescription_Fingerprint = PJRT_TopologyDescription_Fingerprint;
  wrapped.PJRT_Executable_ParameterMemoryKinds = PJRT_Executable_ParameterMemoryKinds;
  wrapped.PJRT_Device_ClearMemoryStats = PJRT_Device_ClearMemoryStats;
  wrapped.PJRT_TopologyDescription_MakeCanonicalShapeForMemorySpace = PJRT_TopologyDescription_MakeCanonicalShapeForMemorySpace;
  wrapped.PJRT_TopologyDescription_GetMemorySpaceKindIds = PJRT_TopologyDescription_GetMemorySpaceKindIds;
}
}  // namespace framedex::mock
