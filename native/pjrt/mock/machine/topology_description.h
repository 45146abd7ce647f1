// A topology as the runtime sees it: that of a client, or the target of ahead-of-time compilation.
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
  std::vector<std::unique_ptr<PJRT_DeviceDescription>> devices;  // by host, then by id
  std::vector<PJRT_DeviceDescription*> handles;
  std::vector<PJRT_NamedValue> attributes;
  bool is_of_client = false;  // and destroyed with the client
};

namespace framedex::mock {

inline constexpr char kPlatformName[] = "tpu";

// Returns the version that JAX shows. Its second line is the build date, which Pallas parses.
const std::string& platform_version();

void add_topology_functions(PJRT_Api& api);

}  // namespace framedex::mock
