// The machine that the legacy runtime sees: one host with up to four chips of two TensorCores each.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "pjrt/mock/devices/device_memory.h"
#include "pjrt/mock/machine/settings.h"
#include "tpu_c_api.h"

// One TensorCore of a chip, by its location.
struct SE_TpuTopology_Core {
  int id;
  int chip;
  int index;  // on the chip
};

// A core and its memory.
struct SE_StreamExecutor {
  SE_StreamExecutor(int ordinal, int64_t memory_limit) : ordinal(ordinal), memory(ordinal, memory_limit) {}

  int ordinal;
  framedex::mock::DeviceMemory memory;
};

namespace framedex::tpu_legacy {

constexpr int kCoresPerChip = 2;
constexpr int kMaximumCores = 8;
constexpr std::array<int, 3> kChipBounds = {2, 2, 1};

// The requested machine.
struct MachineSettings {
  const mock::TpuKind* kind;
  TpuVersionEnum version;
  int cores;
  int64_t memory;  // bytes per core
};

// Reads FRAMEDEX_DEVICE (v2 or v3), FRAMEDEX_DEVICES (1 to 8 cores) and FRAMEDEX_HBM. Throws mock::InvalidSetting for
// an invalid value, or for a variable that only the PJRT mock supports.
MachineSettings read_settings(const mock::Environment& environment);

class Machine {
 public:
  explicit Machine(const MachineSettings& settings);
  // Returns this process's machine. The first caller opens it. Returns nullptr with the reason in `problem` on failure.
  static Machine* open(std::string& problem);
  // Returns the open machine. Call only after open() has succeeded.
  static Machine& get();

  const MachineSettings& settings() const { return settings_; }
  int core_count() const { return settings_.cores; }
  int chip_count() const { return (settings_.cores + kCoresPerChip - 1) / kCoresPerChip; }
  // Returns nullptr if there is no such core.
  SE_TpuTopology_Core* core(int id);
  SE_StreamExecutor* executor(int ordinal);

 private:
  MachineSettings settings_;
  std::vector<SE_TpuTopology_Core> cores_;
  std::vector<std::unique_ptr<SE_StreamExecutor>> executors_;
};

// Returns the coordinates of the chip within kChipBounds.
std::array<int, 3> coordinates(int chip);

}  // namespace framedex::tpu_legacy
