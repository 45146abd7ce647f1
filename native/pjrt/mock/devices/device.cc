#include "pjrt/mock/devices/device.h"

#include <string>

#include "abi/struct_size.h"
#include "pjrt/mock/base/error.h"
#include "pjrt/mock/delegate/delegate.h"

// Asynchronous work that the runtime announces to the plug-in. The mock only stores its description.
struct PJRT_AsyncTrackingEvent {
  PJRT_Device* device;
  std::string description;
};

namespace framedex::mock {
namespace {

PJRT_Error* of_another_process(const PJRT_Device& device, const char* what) {
  return make_error(PJRT_Error_Code_INVALID_ARGUMENT, std::string(what) +
                                                          " is only supported for addressable devices; " +
                                                          device.description->debug_text + " belongs to process " +
                                                          std::to_string(device.description->process_index) + ".");
}

PJRT_Error* memory_stats(PJRT_Device_MemoryStats_Args* args) {
  using Args = PJRT_Device_MemoryStats_Args;
  if (!args->device->is_addressable()) return of_another_process(*args->device, "MemoryStats");
  release_memory_of_dropped_arrays();
  MemoryStatistics statistics = args->device->memory->statistics();
  auto put = [args](int64_t Args::* member, bool Args::* is_set, int64_t value) {
    pjrt::set(args, member, value);
    pjrt::set(args, is_set, true);
  };
  args->bytes_in_use = statistics.in_use;
  put(&Args::peak_bytes_in_use, &Args::peak_bytes_in_use_is_set, statistics.peak);
  put(&Args::num_allocs, &Args::num_allocs_is_set, statistics.allocations);
  put(&Args::largest_alloc_size, &Args::largest_alloc_size_is_set, statistics.largest_allocation);
  put(&Args::bytes_limit, &Args::bytes_limit_is_set, statistics.limit);
  put(&Args::bytes_reserved, &Args::bytes_reserved_is_set, 0);
  put(&Args::peak_bytes_reserved, &Args::peak_bytes_reserved_is_set, 0);
  put(&Args::bytes_reservable_limit, &Args::bytes_reservable_limit_is_set, statistics.limit);
  put(&Args::largest_free_block_bytes, &Args::largest_free_block_bytes_is_set, statistics.largest_free_block);
  pjrt::set(args, &Args::pool_bytes_is_set, false);
  pjrt::set(args, &Args::peak_pool_bytes_is_set, false);
  pjrt::set(args, &Args::peak_allocated_bytes_is_set, false);
  return nullptr;
}

PJRT_Error* clear_memory_stats(PJRT_Device_ClearMemoryStats_Args* args) {
  if (!args->device->is_addressable()) return of_another_process(*args->device, "ClearMemoryStats");
  args->device->memory->clear_statistics();
  return nullptr;
}

PJRT_Error* default_memory(PJRT_Device_DefaultMemory_Args* args) {
  if (!args->device->is_addressable()) return of_another_process(*args->device, "DefaultMemory");
  args->memory = args->device->memory_handles.front();
  return nullptr;
}

PJRT_Error* attributes(PJRT_Device_GetAttributes_Args* args) {
  args->attributes = args->device->description->attributes.data();
  args->num_attributes = args->device->description->attributes.size();
  // The attributes live as long as the device, so the deleter has nothing to do.
  args->device_attributes = nullptr;
  args->attributes_deleter = [](PJRT_Device_Attributes*) {};
  return nullptr;
}

}  // namespace

Memory* memory_of(PJRT_Device* device, PJRT_Memory* memory) {
  return static_cast<Memory*>(memory != nullptr ? memory : device->memory_handles.front());
}

void add_device_functions(PJRT_Api& api) {
  api.PJRT_Device_GetDescription = [](PJRT_Device_GetDescription_Args* args) -> PJRT_Error* {
    args->device_description = args->device->description;
    return nullptr;
  };
  api.PJRT_Device_IsAddressable = [](PJRT_Device_IsAddressable_Args* args) -> PJRT_Error* {
    args->is_addressable = args->device->is_addressable();
    return nullptr;
  };
  api.PJRT_Device_LocalHardwareId = [](PJRT_Device_LocalHardwareId_Args* args) -> PJRT_Error* {
    args->local_hardware_id = args->device->local_hardware_id;
    return nullptr;
  };
  api.PJRT_Device_AddressableMemories = [](PJRT_Device_AddressableMemories_Args* args) -> PJRT_Error* {
    args->memories = args->device->memory_handles.data();
    args->num_memories = args->device->memory_handles.size();
    return nullptr;
  };
  api.PJRT_Device_DefaultMemory = default_memory;
  api.PJRT_Device_MemoryStats = memory_stats;
  api.PJRT_Device_ClearMemoryStats = clear_memory_stats;
  api.PJRT_Device_GetAttributes = attributes;
  api.PJRT_Device_CreateAsyncTrackingEvent = [](PJRT_Device_CreateAsyncTrackingEvent_Args* args) -> PJRT_Error* {
    args->event = new PJRT_AsyncTrackingEvent{args->device, {args->description, args->description_size}};
    return nullptr;
  };
  api.PJRT_AsyncTrackingEvent_Destroy = [](PJRT_AsyncTrackingEvent_Destroy_Args* args) -> PJRT_Error* {
    delete args->event;
    return nullptr;
  };
}

}  // namespace framedex::mock

std::unique_ptr<PJRT_Device> PJRT_Device::local(PJRT_DeviceDescription* description, int local_index, int first_memory,
                                                int64_t memory_limit) {
  using framedex::mock::Memory;
  using framedex::mock::MemoryKind;
  std::unique_ptr<PJRT_Device> device = remote(description);
  device->local_hardware_id = local_index;
  device->memory = std::make_shared<framedex::mock::DeviceMemory>(description->id, memory_limit);
  for (MemoryKind kind : {MemoryKind::kDevice, MemoryKind::kPinnedHost, MemoryKind::kUnpinnedHost}) {
    device->memories.push_back(
        std::make_unique<Memory>(first_memory++, kind, device.get(), description->id, device->memory));
    device->memory_handles.push_back(device->memories.back().get());
  }
  return device;
}

std::unique_ptr<PJRT_Device> PJRT_Device::remote(PJRT_DeviceDescription* description) {
  auto device = std::make_unique<PJRT_Device>();
  device->description = description;
  device->local_hardware_id = -1;
  return device;
}
