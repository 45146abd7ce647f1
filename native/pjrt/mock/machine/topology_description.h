// A topology as the runtime sees it: what a client runs on, or what is compiled for ahead of time.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "pjrt/mock/machine/device_description.h"
#include "pjrt/mock/machine/topology.h"
#include "pjrt_c_api.h"

struct PJRT_TopologyDescription {
  explicit PJRT_TopologyDescription(const framedex::mock::Topology& topology);

  const framedex::mock::Topology topology;
  std::vector<std::unique_ptr<PJRT_DeviceDescription>> devices;  // host by host, and by id on each
  std::vector<PJRT_DeviceDescription*> handles;
  std::vector<PJRT_NamedValue> attributes;
  bool is_of_client = false;  // which destroys it
};

namespace framedex::mock {

inline constexpr char kPlatformName[] = "tpu";

// The library's version as JAX shows it; its second line gives the build date, which Pallas reads.
const std::string& platform_version();

void add_topology_functions(PJRT_Api& api);

}  // namespace framedex::mock
