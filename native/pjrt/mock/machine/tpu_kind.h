// The kinds of TPU that the mock can be: tpu_kinds.json, with the source of every fact, as C++.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace framedex::mock {

using Bounds = std::array<int64_t, 3>;  // chips in x, y, z

// How one chip appears: as how many devices, of how many TensorCores, with how many bytes of memory each.
struct ChipConfiguration {
  std::string name;
  int devices_per_chip;
  int cores_per_device;
  int64_t memory;
};

struct TpuKind {
  std::string name;         // in a topology name: v5e
  std::string device_kind;  // what a device answers: TPU v5 lite
  int dimensions;           // of the torus
  Bounds chips_per_host;
  Bounds smallest_slice;
  std::vector<ChipConfiguration> configurations;
  size_t client;    // index of the configuration that a TPU VM runs
  size_t topology;  // index of the one that an ahead-of-time topology has by default
};

struct MemorySpaceKind {
  std::string name;
  int kind_id;
};

extern const std::vector<TpuKind> kTpuKinds;
extern const std::vector<MemorySpaceKind> kMemorySpaceKinds;  // the default one first

}  // namespace framedex::mock
