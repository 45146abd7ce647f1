// What the simulated machine looks like: its devices, their coordinates and attributes.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "pjrt_c_api.h"

// One device as described to the runtime. Attributes point into the object, so it does not move.
struct PJRT_DeviceDescription {
  PJRT_DeviceDescription(int id, int columns);
  PJRT_DeviceDescription(const PJRT_DeviceDescription&) = delete;
  PJRT_DeviceDescription& operator=(const PJRT_DeviceDescription&) = delete;

  int id;
  std::array<int64_t, 3> coordinates;  // x, y, z of the chip in the mesh
  std::string kind;
  std::string debug_text;
  std::string text;
  std::vector<PJRT_NamedValue> attributes;
};

struct PJRT_TopologyDescription {
  explicit PJRT_TopologyDescription(int device_count);

  std::vector<std::unique_ptr<PJRT_DeviceDescription>> devices;
  std::vector<PJRT_DeviceDescription*> handles;
};

namespace framedex::mock {

inline constexpr char kPlatformName[] = "tpu";

// The library's version as JAX shows it; its second line gives the build date, which Pallas reads.
const std::string& platform_version();

void add_topology_functions(PJRT_Api& api);

}  // namespace framedex::mock
