// The shape of a simulated machine: slices of chips, divided among hosts. Values only; the objects that the runtime
// sees are made from them (device_description.h, topology_description.h).
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

#include "pjrt/mock/machine/tpu_kind.h"

namespace framedex::mock {

// Thrown for a setting or a topology that cannot be; `what()` tells users what can.
class InvalidSetting : public std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

struct Topology {
  const TpuKind* kind;
  const ChipConfiguration* chip;
  Bounds chips;  // of one slice
  Bounds chips_per_host;
  int64_t slices = 1;
  int64_t slices_per_host = 1;  // more than 1 where one process simulates several whole slices
  Bounds wrap{};                // 1 where the torus is closed
  int64_t memory_limit = 0;     // bytes of each device; 0: what the chip has

  int64_t memory() const { return memory_limit > 0 ? memory_limit : chip->memory; }
  int64_t hosts_per_slice() const;
  int64_t devices_per_slice() const;
  int64_t devices() const { return slices * devices_per_slice(); }
  // The number of a slice's first device, as libtpu numbers them.
  int first_device(int64_t slice) const;
  bool has_device(int id) const;
  // The topology's name in libtpu, `v5e:2x4`. A third dimension of 1 is left out where the torus has two.
  std::string name() const;
};

// The kind by its name in a topology, `v5e`, or of its devices, `TPU v5 lite`.
const TpuKind& find_kind(const std::string& name);

const ChipConfiguration& find_configuration(const TpuKind& kind, const std::string& name);

// The chips that `2x4` or `2x2x4` says; nothing for any other text.
std::optional<Bounds> parse_bounds(const std::string& text);

// The shape that Cloud TPU gives so many chips: hosts are filled first, then the slice is as close to a cube as it can
// be.
Bounds arrange(const TpuKind& kind, int64_t chips);

// The chips of each host when so many hosts share a slice: the block closest to a cube.
Bounds divide(const Bounds& chips, int64_t hosts);

int64_t volume(const Bounds& bounds);
std::string to_string(const Bounds& bounds, const char* separator);

// Throws InvalidSetting where hosts do not divide the slice, or there are more devices than kMaximumDevices.
void check(const Topology& topology);

inline constexpr int64_t kMaximumDevices = 16384;

}  // namespace framedex::mock
