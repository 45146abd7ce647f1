// The shape of a simulated machine: slices of chips, divided among hosts. Plain values; the runtime's objects are
// created from them (device_description.h, topology_description.h).
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

#include "pjrt/mock/machine/tpu_kind.h"

namespace framedex::mock {

// Thrown for an impossible setting or topology; `what()` lists the possible values for the user.
class InvalidSetting : public std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

struct Topology {
  const TpuKind* kind;
  const ChipConfiguration* chip;
  Bounds chips;  // of one slice
  Bounds chips_per_host;
  int64_t slices = 1;
  int64_t slices_per_host = 1;  // more than 1 if one process simulates several whole slices
  Bounds wrap{};                // 1 in each dimension where the torus is closed
  int64_t memory_limit = 0;     // bytes per device; 0: the chip's own size

  int64_t memory() const { return memory_limit > 0 ? memory_limit : chip->memory; }
  int64_t hosts_per_slice() const;
  int64_t devices_per_slice() const;
  int64_t devices() const { return slices * devices_per_slice(); }
  // Returns the id of the first device of a slice, as libtpu numbers devices.
  int first_device(int64_t slice) const;
  bool has_device(int id) const;
  // Returns libtpu's name of the topology, `v5e:2x4`. A two-dimensional torus omits a third dimension of 1.
  std::string name() const;
};

// Finds a kind by its name in a topology, `v5e`, or by its device kind, `TPU v5 lite`.
const TpuKind& find_kind(const std::string& name);

const ChipConfiguration& find_configuration(const TpuKind& kind, const std::string& name);

// Parses bounds such as `2x4` or `2x2x4`; nothing for any other text.
std::optional<Bounds> parse_bounds(const std::string& text);

// Returns the slice shape that Cloud TPU uses for this many chips: full hosts first, then as close to a cube as
// possible.
Bounds arrange_chips(const TpuKind& kind, int64_t chips);

// Returns the block of chips of each host if this many hosts share a slice: the block closest to a cube.
Bounds divide_among_hosts(const Bounds& chips, int64_t hosts);

int64_t volume(const Bounds& bounds);
std::string to_string(const Bounds& bounds, const char* separator);

// Throws InvalidSetting if the hosts do not divide the slice, or if there are more than kMaximumDevices devices.
void check(const Topology& topology);

inline constexpr int64_t kMaximumDevices = 16384;

}  // namespace framedex::mock
