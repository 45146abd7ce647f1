// The client: one process's view of the simulated machine.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "pjrt/mock/devices/device.h"
#include "pjrt/mock/devices/memory.h"
#include "pjrt/mock/machine/settings.h"
#include "pjrt/mock/machine/topology_description.h"
#include "pjrt_c_api.h"

namespace framedex::mock {

void add_client_functions(PJRT_Api& api);

}  // namespace framedex::mock

struct PJRT_Client {
  // Throws std::bad_alloc if the host refuses the address space for the devices' memories.
  explicit PJRT_Client(const framedex::mock::Machine& machine);

  const int process_index;
  const bool is_dry_run;
  PJRT_TopologyDescription topology;
  std::vector<std::unique_ptr<PJRT_Device>> devices;  // of every process, in topology order
  std::vector<PJRT_Device*> device_handles;
  std::vector<PJRT_Device*> addressable_device_handles;
  std::vector<PJRT_Memory*> memory_handles;  // of the addressable devices
  std::unordered_map<int, PJRT_Device*> devices_by_id;

  // Host memory that the runtime has mapped for device access (PJRT_Client_DmaMap): address -> size.
  std::mutex dma_mutex;
  std::map<const char*, size_t> dma_ranges;
};
