// The memory spaces of a device.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "pjrt/mock/device_memory.h"
#include "pjrt_c_api.h"

namespace framedex::mock {

// In the order of kMemorySpaceKinds.
enum class MemoryKind { kDevice, kPinnedHost, kUnpinnedHost };

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

void add_memory_functions(PJRT_Api& api);

}  // namespace framedex::mock
