#include "pjrt/mock/devices/client.h"

#include <cstdio>
#include <new>
#include <string>

#include "pjrt/mock/base/error.h"
#include "pjrt/mock/delegate/child_compiler.h"
#include "pjrt/mock/machine/fault_rules.h"

namespace framedex::mock {
namespace {

// Also prints the reason on stderr: JAX silently falls back to the CPU when its TPU cannot be opened.
PJRT_Error* refuse(PJRT_Error_Code code, const std::string& message) {
  std::fprintf(stderr, "framedex: the mock TPU cannot be opened: %s\n", message.c_str());
  return make_error(code, message);
}

PJRT_Error* create_client(PJRT_Client_Create_Args* args) {
  try {
    Machine machine = read_machine(process_environment, process_identity(args->create_options, args->num_options));
    check_faults(process_environment, machine.topology);
    args->client = new PJRT_Client(machine);
    remember_interpreter();
  } catch (const InvalidSetting& problem) {
    return refuse(PJRT_Error_Code_INVALID_ARGUMENT, std::string(problem.what()) + ".");
  } catch (const std::bad_alloc&) {
    return refuse(
        PJRT_Error_Code_RESOURCE_EXHAUSTED,
        "the host refuses the address space for the simulated devices' memory; set FRAMEDEX_HBM (framedex run "
        "--hbm) to less.");
  }
  return nullptr;
}

PJRT_Error* lookup(PJRT_Client_LookupDevice_Args* args) {
  auto entry = args->client->devices_by_id.find(args->id);
  if (entry == args->client->devices_by_id.end()) {
    return make_error(PJRT_Error_Code_INVALID_ARGUMENT, "no device with id " + std::to_string(args->id) +
                                                            "; there are " +
                                                            std::to_string(args->client->devices.size()) + " devices");
  }
  args->device = entry->second;
  return nullptr;
}

PJRT_Error* lookup_addressable(PJRT_Client_LookupAddressableDevice_Args* args) {
  const std::vector<PJRT_Device*>& devices = args->client->addressable_device_handles;
  if (args->local_hardware_id < 0 || static_cast<size_t>(args->local_hardware_id) >= devices.size()) {
    return make_error(PJRT_Error_Code_INVALID_ARGUMENT, "no device with local hardware id " +
                                                            std::to_string(args->local_hardware_id) + "; there are " +
                                                            std::to_string(devices.size()) + " addressable devices");
  }
  args->addressable_device = devices[static_cast<size_t>(args->local_hardware_id)];
  return nullptr;
}

// Uses only this process's own devices if there are enough, so that it can run the programs that it compiles.
PJRT_Error* default_device_assignment(PJRT_Client_DefaultDeviceAssignment_Args* args) {
  auto wanted = static_cast<size_t>(args->num_replicas) * static_cast<size_t>(args->num_partitions);
  const PJRT_Client& client = *args->client;
  const std::vector<PJRT_Device*>& devices =
      wanted <= client.addressable_device_handles.size() ? client.addressable_device_handles : client.device_handles;
  if (wanted > devices.size() || wanted > args->default_assignment_size) {
    return make_error(PJRT_Error_Code_INVALID_ARGUMENT, std::to_string(wanted) + " devices requested, but there are " +
                                                            std::to_string(devices.size()) +
                                                            " (framedex run --devices).");
  }
  for (size_t i = 0; i < wanted; ++i) args->default_assignment[i] = devices[i]->description->id;
  return nullptr;
}

// Mapping is only bookkeeping, since the mock's copies reach all host memory. Errors are those of a real device.
PJRT_Error* dma_map(PJRT_Client_DmaMap_Args* args) {
  const char* start = static_cast<const char*>(args->data);
  std::map<const char*, size_t>& ranges = args->client->dma_ranges;
  std::lock_guard lock(args->client->dma_mutex);
  auto after = ranges.lower_bound(start + args->size);
  if (after != ranges.begin() && std::prev(after)->first + std::prev(after)->second > start) {
    return make_error(PJRT_Error_Code_INVALID_ARGUMENT, "PJRT_Client_DmaMap of memory that is mapped already.");
  }
  ranges[start] = args->size;
  return nullptr;
}

PJRT_Error* dma_unmap(PJRT_Client_DmaUnmap_Args* args) {
  std::lock_guard lock(args->client->dma_mutex);
  if (args->client->dma_ranges.erase(static_cast<const char*>(args->data)) == 1) return nullptr;
  return make_error(PJRT_Error_Code_INVALID_ARGUMENT, "PJRT_Client_DmaUnmap of memory that is not mapped.");
}

}  // namespace

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
    args->process_index = args->client->process_index;
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
    args->addressable_devices = args->client->addressable_device_handles.data();
    args->num_addressable_devices = args->client->addressable_device_handles.size();
    return nullptr;
  };
  api.PJRT_Client_AddressableMemories = [](PJRT_Client_AddressableMemories_Args* args) -> PJRT_Error* {
    args->addressable_memories = args->client->memory_handles.data();
    args->num_addressable_memories = args->client->memory_handles.size();
    return nullptr;
  };
  api.PJRT_Client_LookupDevice = lookup;
  api.PJRT_Client_LookupAddressableDevice = lookup_addressable;
  api.PJRT_Client_DefaultDeviceAssignment = default_device_assignment;
  api.PJRT_Client_TopologyDescription = [](PJRT_Client_TopologyDescription_Args* args) -> PJRT_Error* {
    args->topology = &args->client->topology;
    return nullptr;
  };
  api.PJRT_Client_UpdateGlobalProcessInfo = [](PJRT_Client_UpdateGlobalProcessInfo_Args*) -> PJRT_Error* {
    return nullptr;
  };
  api.PJRT_Client_DmaMap = dma_map;
  api.PJRT_Client_DmaUnmap = dma_unmap;
}

}  // namespace framedex::mock

PJRT_Client::PJRT_Client(const framedex::mock::Machine& machine)
    : process_index(static_cast<int>(machine.process_index)),
      is_dry_run(machine.is_dry_run),
      topology(machine.topology) {
  topology.is_of_client = true;
  for (PJRT_DeviceDescription* description : topology.handles) {
    auto local_index = static_cast<int>(addressable_device_handles.size());
    bool is_local = description->process_index == process_index;
    std::unique_ptr<PJRT_Device> device =
        is_local ? PJRT_Device::local(description, local_index, static_cast<int>(memory_handles.size()),
                                      machine.topology.memory())
                 : PJRT_Device::remote(description);
    if (is_local) addressable_device_handles.push_back(device.get());
    memory_handles.insert(memory_handles.end(), device->memory_handles.begin(), device->memory_handles.end());
    device_handles.push_back(device.get());
    devices_by_id[description->id] = device.get();
    devices.push_back(std::move(device));
  }
}
