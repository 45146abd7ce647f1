// A core: its memory, its description, and copies between its memory and the host. Every function finishes its work
// before it returns, so a core is never busy.
#include <cstring>

#include "tpu_legacy/api.h"
#include "tpu_legacy/machine.h"
#include "tpu_legacy/status.h"

namespace framedex::tpu_legacy {
namespace {

// jaxlib turns an allocation without an address into RESOURCE_EXHAUSTED.
SE_DeviceMemoryBase allocate(SE_StreamExecutor* executor, uint64_t size, int64_t) {
  void* address = executor->memory.Allocate(static_cast<int64_t>(size));
  return {address, address == nullptr ? 0 : size, 0};
}

void deallocate(SE_StreamExecutor* executor, SE_DeviceMemoryBase* memory) {
  if (memory->opaque != nullptr) executor->memory.Free(memory->opaque);
}

bool allocator_stats(SE_StreamExecutor* executor, SE_AllocatorStats* stats) {
  mock::MemoryStatistics now = executor->memory.statistics();
  *stats = {};
  stats->num_allocs = now.allocations;
  stats->bytes_in_use = now.in_use;
  stats->peak_bytes_in_use = now.peak;
  stats->largest_alloc_size = now.largest_allocation;
  stats->has_bytes_limit = true;
  stats->bytes_limit = now.limit;
  stats->largest_free_block_bytes = now.largest_free_block;
  return true;
}

bool memory_usage(SE_StreamExecutor* executor, int64_t* free, int64_t* total) {
  mock::MemoryStatistics now = executor->memory.statistics();
  *total = now.limit;
  *free = now.limit - now.in_use;
  return true;
}

// jaxlib only reads the texts.
char* constant(const char* text) { return const_cast<char*>(text); }

void describe(SE_StreamExecutor*, SE_DeviceDescription* description, TF_Status*) {
  const MachineSettings& settings = Machine::get().settings();
  *description = {};
  description->device_vendor = constant("framedex");
  description->name = constant(settings.kind->device_kind.c_str());
  description->platform_version = constant("mock");
  description->driver_version = constant("");
  description->runtime_version = constant("");
  description->pci_bus_id = constant("");
  description->device_memory_size = settings.memory;
  description->core_count = 1;
}

bool fits(const SE_DeviceMemoryBase& memory, uint64_t size, TF_Status* status) {
  if (size <= memory.size) return true;
  fail(status, TpuStatusCode_out_of_range,
       std::to_string(size) + " bytes do not fit into device memory of " + std::to_string(memory.size) + " bytes.");
  return false;
}

void copy_to_host(void* host, const SE_DeviceMemoryBase& device, uint64_t size, TF_Status* status) {
  if (fits(device, size, status)) std::memcpy(host, device.opaque, size);
}

void copy_to_device(SE_DeviceMemoryBase device, const void* host, uint64_t size, TF_Status* status) {
  if (fits(device, size, status)) std::memcpy(device.opaque, host, size);
}

void copy_between_devices(SE_Stream*, SE_DeviceMemoryBase from, SE_DeviceMemoryBase to, TF_Status* status) {
  if (fits(to, from.size, status)) std::memcpy(to.opaque, from.opaque, from.size);
}

}  // namespace

void add_executor_functions(TpuApi& api) {
  api.TpuExecutor_Init = [](SE_StreamExecutor*, int, SE_DeviceOptions*, TF_Status*) {};
  api.TpuExecutor_Free = [](SE_StreamExecutor*) {};  // the machine owns it
  api.TpuExecutor_PlatformDeviceCount = [](SE_StreamExecutor*) { return Machine::get().core_count(); };
  api.TpuExecutor_GetCoreLocation = [](SE_StreamExecutor* executor) { return Machine::get().core(executor->ordinal); };
  api.TpuDeviceDescription_New = [] { return new SE_DeviceDescription{}; };
  api.TpuDeviceDescription_Free = [](SE_DeviceDescription* description) { delete description; };
  api.TpuExecutor_CreateDeviceDescription = describe;

  api.TpuExecutor_Allocate = allocate;
  api.TpuExecutor_Deallocate = deallocate;
  api.TpuExecutor_GetAllocatorStats = allocator_stats;
  api.TpuExecutor_DeviceMemoryUsage = memory_usage;

  api.TpuExecutor_SynchronousMemcpyToHost = [](SE_StreamExecutor*, void* host, const SE_DeviceMemoryBase* device,
                                               uint64_t size,
                                               TF_Status* status) { copy_to_host(host, *device, size, status); };
  api.TpuExecutor_SynchronousMemcpyFromHost = [](SE_StreamExecutor*, SE_DeviceMemoryBase* device, const void* host,
                                                 uint64_t size,
                                                 TF_Status* status) { copy_to_device(*device, host, size, status); };
  api.TpuExecutor_MemcpyToHost = [](SE_StreamExecutor*, SE_Stream*, void* host, const SE_DeviceMemoryBase* device,
                                    uint64_t size) {
    copy_to_host(host, *device, size, nullptr);
    return size <= device->size;
  };
  api.TpuExecutor_MemcpyFromHost = [](SE_StreamExecutor*, SE_Stream*, SE_DeviceMemoryBase* device, const void* host,
                                      uint64_t size) {
    copy_to_device(*device, host, size, nullptr);
    return size <= device->size;
  };
  api.TpuStream_EnqueueTransferHostToDevice = [](SE_Stream*, SE_DeviceMemoryBase device, void* host, uint64_t size,
                                                 TF_Status* status) { copy_to_device(device, host, size, status); };
  api.TpuStream_EnqueueTransferDeviceToHost = [](SE_Stream*, SE_DeviceMemoryBase device, void* host, uint64_t size,
                                                 TF_Status* status) { copy_to_host(host, device, size, status); };
  api.TpuStream_TpuEnqueueOnDeviceSendRecvLocal = copy_between_devices;
}

}  // namespace framedex::tpu_legacy
