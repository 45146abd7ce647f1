// One device of a topology, as the runtime sees it with or without a client.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "pjrt/mock/machine/topology.h"
#include "pjrt_c_api.h"

namespace framedex::mock {

// The location of a device: its chip's coordinates in the slice, and its number among the chip's devices.
struct DeviceLocation {
  int64_t slice;
  Bounds coordinates;
  int core_on_chip;
};

PJRT_NamedValue named_integer(const char* name, int64_t integer);
PJRT_NamedValue named_integers(const char* name, const int64_t* integers, size_t count);

void add_device_description_functions(PJRT_Api& api);

}  // namespace framedex::mock

// Its attributes point into the object, so the object must not move.
struct PJRT_DeviceDescription {
  PJRT_DeviceDescription(const framedex::mock::Topology& topology, const framedex::mock::DeviceLocation& place);
  PJRT_DeviceDescription(const PJRT_DeviceDescription&) = delete;
  PJRT_DeviceDescription& operator=(const PJRT_DeviceDescription&) = delete;

  const framedex::mock::DeviceLocation place;
  const int id;  // unique in the machine; with several slices 100000 * (slice + 1) + the id in the slice
  const int process_index;
  const std::string& kind;
  std::string debug_text;
  std::string text;
  std::vector<PJRT_NamedValue> attributes;
};
