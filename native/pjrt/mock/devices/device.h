// A device of a client, with its memories if it is addressable from this process.
#pragma once

#include <memory>
#include <vector>

#include "pjrt/mock/devices/device_memory.h"
#include "pjrt/mock/devices/memory.h"
#include "pjrt/mock/machine/device_description.h"
#include "pjrt_c_api.h"

namespace framedex::mock {

// Returns the memory that a call refers to: `memory` if it is not null, else the device's default memory.
Memory* memory_of(PJRT_Device* device, PJRT_Memory* memory);

void add_device_functions(PJRT_Api& api);

}  // namespace framedex::mock

struct PJRT_Device {
  // `first_memory` is the id of its first memory space; `memory_limit` is in bytes. Throws std::bad_alloc if the host
  // refuses the address space.
  static std::unique_ptr<PJRT_Device> local(PJRT_DeviceDescription* description, int local_index, int first_memory,
                                            int64_t memory_limit);
  // A device of another process: listed, but without memories.
  static std::unique_ptr<PJRT_Device> remote(PJRT_DeviceDescription* description);

  bool is_addressable() const { return memory != nullptr; }

  PJRT_DeviceDescription* description;
  int local_hardware_id;  // -1: another process's device
  std::shared_ptr<framedex::mock::DeviceMemory> memory;
  std::vector<std::unique_ptr<framedex::mock::Memory>> memories;
  std::vector<PJRT_Memory*> memory_handles;
};
