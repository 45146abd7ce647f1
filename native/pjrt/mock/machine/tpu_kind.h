// The TPU kinds that the mock supports: tpu_kinds.json as C++. That file has the source of every fact.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace framedex::mock {

using Bounds = std::array<int64_t, 3>;  // chips in x, y, z

// How one chip appears: its number of devices, their TensorCores, and bytes of memory per device.
struct ChipConfiguration {
  std::string name;
  int devices_per_chip;
  int cores_per_device;
  int64_t memory;
};

struct TpuKind {
  std::string name;         // in a topology name: v5e
  std::string device_kind;  // as reported by a device: TPU v5 lite
  int dimensions;           // of the torus
  Bounds chips_per_host;
  Bounds smallest_slice;
  std::vector<ChipConfiguration> configurations;
  size_t client;    // index of the configuration on a TPU VM
  size_t topology;  // index of the default for an ahead-of-time topology
};

struct MemorySpaceKind {
  std::string name;
  int kind_id;
};

extern const std::vector<TpuKind> kTpuKinds;
extern const std::vector<MemorySpaceKind> kMemorySpaceKinds;  // the default one first

}  // namespace framedex::mock
