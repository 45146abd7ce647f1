#include "pjrt/mock/client.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <optional>

#include "pjrt/mock/error.h"
#include "pjrt/traced_call.h"

namespace framedex::mock {
namespace {

constexpr int64_t kDefaultMemoryLimit = int64_t{16} << 30;  // the HBM of a v5e chip
constexpr int64_t kMaximumDevices = 256;

void* get_user_data(PJRT_Memory* memory, const void* key) {
  auto* own = static_cast<Memory*>(memory);
  std::lock_guard lock(own->user_data_mutex);
  auto entry = own->user_data.find(key);
  return entry == own->user_data.end() ? nullptr : entry->second.get();
}

void set_user_data(PJRT_Memory* memory, const void* key, void* data, void (*destroy)(void*)) {
  auto* own = static_cast<Memory*>(memory);
  std::shared_ptr<void> held =
      destroy != nullptr ? std::shared_ptr<void>(data, destroy) : std::shared_ptr<void>(data, [](void*) {});
  std::lock_guard lock(own->user_data_mutex);
  own->user_data[key].swap(held);
}

const PJRT_Memory_FunctionTable kMemoryFunctions = {PJRT_Memory_FunctionTable_STRUCT_SIZE, nullptr, sizeof(Memory),
                                                    get_user_data, set_user_data};

// A whole number from the environment, `fallback` if it is not set, nothing if it is malformed or out of range.
std::optional<int64_t> environment_number(const char* name, int64_t fallback, int64_t maximum) {
  const char* text = std::getenv(name);
  if (text == nullptr || *text == '\0') return fallback;
  char* end = nullptr;
  errno = 0;
  int64_t value = std::strtoll(text, &end, 10);
  if (errno != 0 || *end != '\0' || value < 1 || value > maximum) return std::nullopt;
  return value;
}

// JAX goes on with the CPU, without a word, when its TPU cannot be opened: the reason is said here as well.
PJRT_Error* refuse(PJRT_Error_Code code, const std::string& message) {
  std::fprintf(stderr, "framedex: the mock TPU cannot be opened: %s\n", message.c_str());
  return make_error(code, message);
}

PJRT_Error* invalid_setting(const char* name, const std::string& expected) {
  return refuse(PJRT_Error_Code_INVALID_ARGUMENT,
                std::string(name) + "=" + std::getenv(name) + " is not " + expected + ".");
}

PJRT_Error* create_client(PJRT_Client_Create_Args* args) {
  std::optional<int64_t> devices = environment_number("FRAMEDEX_DEVICES", 1, kMaximumDevices);
  if (!devices)
    return invalid_setting("FRAMEDEX_DEVICES", "a number of devices from 1 to " + std::to_string(kMaximumDevices));
  std::optional<int64_t> limit = environment_number("FRAMEDEX_HBM", kDefaultMemoryLimit, int64_t{1} << 44);
  if (!limit) return invalid_setting("FRAMEDEX_HBM", "a number of bytes of device memory from 1 to 2^44");
  try {
    args->client = new PJRT_Client(static_cast<int>(*devices), *limit);
  } catch (const std::bad_alloc&) {
    return refuse(PJRT_Error_Code_RESOURCE_EXHAUSTED,
                  "the host refuses " + std::to_string(*devices) + " address ranges of " + std::to_string(*limit) +
                      " bytes for simulated device memory; set FRAMEDEX_HBM (framedex run --hbm) to less.");
  }
  return nullptr;
}

PJRT_Error* lookup(PJRT_Client* client, int id, PJRT_Device** device) {
  auto count = static_cast<int>(client->device_handles.size());
  if (id < 0 || id >= count) {
    return make_error(PJRT_Error_Code_INVALID_ARGUMENT,
                      "no device with id " + std::to_string(id) + "; there are " + std::to_string(count));
  }
  *device = client->device_handles[static_cast<size_t>(id)];
  return nullptr;
}

PJRT_Error* default_device_assignment(PJRT_Client_DefaultDeviceAssignment_Args* args) {
  int wanted = args->num_replicas * args->num_partitions;
  auto available = static_cast<int>(args->client->device_handles.size());
  if (wanted > available || static_cast<size_t>(wanted) > args->default_assignment_size) {
    return make_error(
        PJRT_Error_Code_INVALID_ARGUMENT,
        std::to_string(wanted) + " devices wanted, " + std::to_string(available) + " there (framedex run --devices).");
  }
  for (int i = 0; i < wanted; ++i) args->default_assignment[i] = i;
  return nullptr;
}

PJRT_Error* memory_stats(PJRT_Device_MemoryStats_Args* args) {
  using Args = PJRT_Device_MemoryStats_Args;
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
  put(&Args::largest_free_block_bytes, &Args::largest_free_block_bytes_is_set, statistics.largest_free_block);
  for (auto is_set : {&Args::bytes_reserved_is_set, &Args::peak_bytes_reserved_is_set,
                      &Args::bytes_reservable_limit_is_set, &Args::pool_bytes_is_set, &Args::peak_pool_bytes_is_set}) {
    pjrt::set(args, is_set, false);
  }
  return nullptr;
}

PJRT_Error* device_attributes(PJRT_Device_GetAttributes_Args* args) {
  args->attributes = args->device->description->attributes.data();
  args->num_attributes = args->device->description->attributes.size();
  // The attributes live as long as the device, so there is nothing to hold or to delete.
  args->device_attributes = nullptr;
  args->attributes_deleter = [](PJRT_Device_Attributes*) {};
  return nullptr;
}

void add_device_functions(PJRT_Api& api) {
  api.PJRT_Device_GetDescription = [](PJRT_Device_GetDescription_Args* args) -> PJRT_Error* {
    args->device_description = args->device->description;
    return nullptr;
  };
  api.PJRT_Device_IsAddressable = [](PJRT_Device_IsAddressable_Args* args) -> PJRT_Error* {
    args->is_addressable = true;
    return nullptr;
  };
  api.PJRT_Device_LocalHardwareId = [](PJRT_Device_LocalHardwareId_Args* args) -> PJRT_Error* {
    args->local_hardware_id = args->device->description->id;
    return nullptr;
  };
  api.PJRT_Device_AddressableMemories = [](PJRT_Device_AddressableMemories_Args* args) -> PJRT_Error* {
    args->memories = args->device->memory_handles.data();
    args->num_memories = args->device->memory_handles.size();
    return nullptr;
  };
  api.PJRT_Device_DefaultMemory = [](PJRT_Device_DefaultMemory_Args* args) -> PJRT_Error* {
    args->memory = args->device->memory_handles.front();
    return nullptr;
  };
  api.PJRT_Device_MemoryStats = memory_stats;
  api.PJRT_Device_GetAttributes = device_attributes;
}

void add_memory_functions(PJRT_Api& api) {
  api.PJRT_Memory_Id = [](PJRT_Memory_Id_Args* args) -> PJRT_Error* {
    args->id = static_cast<Memory*>(args->memory)->id;
    return nullptr;
  };
  api.PJRT_Memory_Kind = [](PJRT_Memory_Kind_Args* args) -> PJRT_Error* {
    const std::string& name = static_cast<Memory*>(args->memory)->kind_name;
    args->kind = name.data();
    args->kind_size = name.size();
    return nullptr;
  };
  api.PJRT_Memory_Kind_Id = [](PJRT_Memory_Kind_Id_Args* args) -> PJRT_Error* {
    args->kind_id = static_cast<int>(static_cast<Memory*>(args->memory)->kind);
    return nullptr;
  };
  api.PJRT_Memory_DebugString = [](PJRT_Memory_DebugString_Args* args) -> PJRT_Error* {
    const std::string& text = static_cast<Memory*>(args->memory)->text;
    args->debug_string = text.data();
    args->debug_string_size = text.size();
    return nullptr;
  };
  api.PJRT_Memory_ToString = [](PJRT_Memory_ToString_Args* args) -> PJRT_Error* {
    const std::string& text = static_cast<Memory*>(args->memory)->text;
    args->to_string = text.data();
    args->to_string_size = text.size();
    return nullptr;
  };
  api.PJRT_Memory_AddressableByDevices = [](PJRT_Memory_AddressableByDevices_Args* args) -> PJRT_Error* {
    args->devices = &static_cast<Memory*>(args->memory)->device->handle;
    args->num_devices = 1;
    return nullptr;
  };
}

}  // namespace

const std::vector<MemorySpaceKind> kMemorySpaceKinds = {{"device", 0}, {"pinned_host", 1}, {"unpinned_host", 2}};

Memory::Memory(int memory_id, MemoryKind memory_kind, PJRT_Device* owner, std::shared_ptr<DeviceMemory> memory_pool)
    : PJRT_Memory{&kMemoryFunctions},
      id(memory_id),
      kind(memory_kind),
      device(owner),
      pool(std::move(memory_pool)),
      kind_name(kMemorySpaceKinds[static_cast<size_t>(memory_kind)].name),
      text("TPU_" + std::to_string(owner->description->id) + ":" + kind_name) {}

std::shared_ptr<char> Memory::allocate(int64_t bytes) const {
  if (kind == MemoryKind::kDevice) {
    auto* address = static_cast<char*>(pool->Allocate(bytes));
    if (address == nullptr) return nullptr;
    return {address, [owner = pool](char* freed) { owner->Free(freed); }};
  }
  return {static_cast<char*>(std::malloc(static_cast<size_t>(bytes) + 1)), std::free};
}

Memory* memory_of(PJRT_Device* device, PJRT_Memory* memory) {
  return static_cast<Memory*>(memory != nullptr ? memory : device->memory_handles.front());
}

void add_client_functions(PJRT_Api& api) {
  add_device_functions(api);
  add_memory_functions(api);
  api.PJRT_Plugin_Initialize = [](PJRT_Plugin_Initialize_Args*) -> PJRT_Error* { return nullptr; };
  api.PJRT_Plugin_Attributes = [](PJRT_Plugin_Attributes_Args* args) -> PJRT_Error* {
    args->attributes = nullptr;
    args->num_attributes = 0;
    return nullptr;
  };
  api.PJRT_Client_Create = create_client;
  api.PJRT_Client_Destroy = [](PJRT_Client_Destroy_Args* args) -> PJRT_Error* {
    delete args->client;
    return nullptr;
  };
  api.PJRT_Client_PlatformName = [](PJRT_Client_PlatformName_Args* args) -> PJRT_Error* {
    args->platform_name = kPlatformName;
    args->platform_name_size = sizeof(kPlatformName) - 1;
    return nullptr;
  };
  api.PJRT_Client_ProcessIndex = [](PJRT_Client_ProcessIndex_Args* args) -> PJRT_Error* {
    args->process_index = 0;
    return nullptr;
  };
  api.PJRT_Client_PlatformVersion = [](PJRT_Client_PlatformVersion_Args* args) -> PJRT_Error* {
    args->platform_version = platform_version().data();
    args->platform_version_size = platform_version().size();
    return nullptr;
  };
  api.PJRT_Client_Devices = [](PJRT_Client_Devices_Args* args) -> PJRT_Error* {
    args->devices = args->client->device_handles.data();
    args->num_devices = args->client->device_handles.size();
    return nullptr;
  };
  api.PJRT_Client_AddressableDevices = [](PJRT_Client_AddressableDevices_Args* args) -> PJRT_Error* {
    args->addressable_devices = args->client->device_handles.data();
    args->num_addressable_devices = args->client->device_handles.size();
    return nullptr;
  };
  api.PJRT_Client_AddressableMemories = [](PJRT_Client_AddressableMemories_Args* args) -> PJRT_Error* {
    args->addressable_memories = args->client->memory_handles.data();
    args->num_addressable_memories = args->client->memory_handles.size();
    return nullptr;
  };
  api.PJRT_Client_LookupDevice = [](PJRT_Client_LookupDevice_Args* args) {
    return lookup(args->client, args->id, &args->device);
  };
  api.PJRT_Client_LookupAddressableDevice = [](PJRT_Client_LookupAddressableDevice_Args* args) {
    return lookup(args->client, args->local_hardware_id, &args->addressable_device);
  };
  api.PJRT_Client_DefaultDeviceAssignment = default_device_assignment;
  api.PJRT_Client_TopologyDescription = [](PJRT_Client_TopologyDescription_Args* args) -> PJRT_Error* {
    args->topology = &args->client->topology;
    return nullptr;
  };
  api.PJRT_Client_UpdateGlobalProcessInfo = [](PJRT_Client_UpdateGlobalProcessInfo_Args*) -> PJRT_Error* {
    return nullptr;
  };
}

}  // namespace framedex::mock

PJRT_Client::PJRT_Client(int device_count, int64_t memory_limit) : topology(device_count) {
  using framedex::mock::DeviceMemory;
  using framedex::mock::Memory;
  using framedex::mock::MemoryKind;
  int memory_id = 0;
  for (PJRT_DeviceDescription* description : topology.handles) {
    auto device = std::make_unique<PJRT_Device>();
    device->description = description;
    device->memory = std::make_shared<DeviceMemory>(description->id, memory_limit);
    device->handle = device.get();
    for (MemoryKind kind : {MemoryKind::kDevice, MemoryKind::kPinnedHost, MemoryKind::kUnpinnedHost}) {
      auto memory = std::make_unique<Memory>(memory_id++, kind, device.get(), device->memory);
      device->memory_handles.push_back(memory.get());
      memory_handles.push_back(memory.get());
      device->memories.push_back(std::move(memory));
    }
    device_handles.push_back(device.get());
    devices.push_back(std::move(device));
  }
}
