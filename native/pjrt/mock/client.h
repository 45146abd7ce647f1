// The client, its devices and their memories.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "pjrt/mock/device_memory.h"
#include "pjrt/mock/topology.h"
#include "pjrt_c_api.h"

struct PJRT_Device;

namespace framedex::mock {

enum class MemoryKind { kDevice, kPinnedHost, kUnpinnedHost };

struct MemorySpaceKind {
  std::string name;
  int kind_id;
};

extern const std::vector<MemorySpaceKind> kMemorySpaceKinds;  // in the order of MemoryKind, the default one first

// A memory space. The device's own has a limit; host memory is the host's.
struct Memory : PJRT_Memory {
  Memory(int id, MemoryKind kind, PJRT_Device* device, std::shared_ptr<DeviceMemory> pool);

  // Bytes of this memory, given back when the last owner lets go; nullptr when there is not enough.
  std::shared_ptr<char> allocate(int64_t bytes) const;

  int id;
  MemoryKind kind;
  PJRT_Device* device;
  std::shared_ptr<DeviceMemory> pool;
  std::string kind_name;
  std::string text;

  // What the runtime hangs on a memory (PJRT_Memory_FunctionTable).
  std::mutex user_data_mutex;
  std::map<const void*, std::shared_ptr<void>> user_data;
};

// The memory that a call names: `memory` if given, else the device's own.
Memory* memory_of(PJRT_Device* device, PJRT_Memory* memory);

void add_client_functions(PJRT_Api& api);

}  // namespace framedex::mock

struct PJRT_Device {
  PJRT_DeviceDescription* description;
  std::shared_ptr<framedex::mock::DeviceMemory> memory;
  std::vector<std::unique_ptr<framedex::mock::Memory>> memories;
  std::vector<PJRT_Memory*> memory_handles;
  PJRT_Device* handle;  // itself: a list of one device, for PJRT_Memory_AddressableByDevices
};

struct PJRT_Client {
  // `memory_limit` in bytes for each device. Throws std::bad_alloc if the host refuses the address space.
  PJRT_Client(int device_count, int64_t memory_limit);

  PJRT_TopologyDescription topology;
  std::vector<std::unique_ptr<PJRT_Device>> devices;
  std::vector<PJRT_Device*> device_handles;
  std::vector<PJRT_Memory*> memory_handles;
};
