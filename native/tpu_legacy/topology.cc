// The machine's one host, its chips and cores, and the assignment of program parts to cores.
#include "tpu_legacy/api.h"
#include "tpu_legacy/machine.h"
#include "tpu_legacy/status.h"

struct SE_TpuTopology {};
struct XLA_ComputationPlacer {};

namespace framedex::tpu_legacy {
namespace {

// A host's location has the same type as a core's.
SE_TpuTopology_Host host{0, 0, 0};
SE_TpuTopology topology;

int core_count(TpuCoreTypeEnum type) { return type == kTensorCore ? Machine::get().core_count() : 0; }

void list_cores(TpuCoreTypeEnum type, SE_TpuTopology_Core** cores) {
  for (int id = 0; id < core_count(type); ++id) cores[id] = Machine::get().core(id);
}

SE_TpuTopology_Core* core_at(SE_TpuTopology*, TpuCoreTypeEnum type, int x, int y, int z, int index) {
  bool is_there = type == kTensorCore && x >= 0 && x < kChipBounds[0] && y >= 0 && y < kChipBounds[1] && z == 0 &&
                  index >= 0 && index < kCoresPerChip;
  return is_there ? Machine::get().core((x + y * kChipBounds[0]) * kCoresPerChip + index) : nullptr;
}

void chip_coordinates(SE_TpuTopology_Core* core, int* x, int* y, int* z) {
  std::array<int, 3> place = coordinates(core->chip);
  *x = place[0];
  *y = place[1];
  *z = place[2];
}

// Assigns replica r of computation c to core r * computations + c, like XLA's own placer.
void assign(int replicas, int computations, int* assignment, TF_Status* status) {
  if (replicas * computations > Machine::get().core_count()) {
    return fail(status, TpuStatusCode_invalid_argument,
                std::to_string(replicas) + " replicas of " + std::to_string(computations) +
                    " computations need more than the " + std::to_string(Machine::get().core_count()) +
                    " cores of the mock TPU.");
  }
  for (int i = 0; i < replicas * computations; ++i) assignment[i] = i;
}

}  // namespace

void add_topology_functions(TpuApi& api) {
  api.TpuPlatform_GetTopologyPtr = [](SE_Platform*) { return &topology; };
  api.TpuUtil_GetTopologyPtr = [] { return &topology; };
  api.TpuPlatform_GetHostLocation = [](SE_Platform*) { return &host; };

  api.TpuTopology_LogicalDevicesPerHost = [](SE_TpuTopology*, TpuCoreTypeEnum type) { return core_count(type); };
  api.TpuTopology_LogicalDevicesPerChip = [](SE_TpuTopology*, TpuCoreTypeEnum type) {
    return type == kTensorCore ? kCoresPerChip : 0;
  };
  api.TpuTopology_HostCount = [](SE_TpuTopology*) { return 1; };
  api.TpuTopology_ChipsPerHost = [](SE_TpuTopology*) { return Machine::get().chip_count(); };
  api.TpuTopology_ChipBounds_X = [](SE_TpuTopology*) { return kChipBounds[0]; };
  api.TpuTopology_ChipBounds_Y = [](SE_TpuTopology*) { return kChipBounds[1]; };
  api.TpuTopology_ChipBounds_Z = [](SE_TpuTopology*) { return kChipBounds[2]; };
  api.TpuTopology_HasChip = [](SE_TpuTopology* of, int x, int y, int z) {
    return core_at(of, kTensorCore, x, y, z, 0) != nullptr;
  };
  api.TpuTopology_CoreForId = [](SE_TpuTopology*, TpuCoreTypeEnum type, int id) {
    return type == kTensorCore ? Machine::get().core(id) : nullptr;
  };
  api.TpuTopology_Core = core_at;
  api.TpuTopology_NumCores = [](SE_TpuTopology*, TpuCoreTypeEnum type) { return core_count(type); };
  api.TpuTopology_Cores = [](SE_TpuTopology*, TpuCoreTypeEnum type, SE_TpuTopology_Core** cores) {
    list_cores(type, cores);
  };
  api.TpuTopology_IdForHost = [](SE_TpuTopology*, int, int, int) { return 0; };
  api.TpuTopology_Version = [](SE_TpuTopology*) { return Machine::get().settings().version; };

  api.TpuCoreLocation_ChipCoordinates = chip_coordinates;
  api.TpuCoreLocation_HostCoordinates = [](SE_TpuTopology_Core*, int* x, int* y, int* z) { *x = *y = *z = 0; };
  api.TpuCoreLocation_Index = [](SE_TpuTopology_Core* core) { return core->index; };
  api.TpuCoreLocation_Id = [](SE_TpuTopology_Core* core) { return core->id; };

  api.TpuHostLocation_Id = [](SE_TpuTopology_Host*) { return 0; };
  api.TpuHostLocation_NumCores = [](SE_TpuTopology_Host*, TpuCoreTypeEnum type) { return core_count(type); };
  api.TpuHostLocation_Cores = [](SE_TpuTopology_Host*, TpuCoreTypeEnum type, SE_TpuTopology_Core** cores) {
    list_cores(type, cores);
  };

  api.TpuComputationPlacer_New = [] { return new XLA_ComputationPlacer; };
  api.TpuComputationPlacer_Free = [](XLA_ComputationPlacer* placer) { delete placer; };
  api.TpuComputationPlacer_AssignDevices = [](XLA_ComputationPlacer*, int replicas, int computations, int* assignment,
                                              TF_Status* status) {
    assign(replicas, computations, assignment, status);
  };
  api.TpuComputationPlacer_AssignLocalDevices = [](SE_TpuTopology_Host*, int replicas, int computations,
                                                   int* assignment, TF_Status* status) {
    assign(replicas, computations, assignment, status);
  };
}

}  // namespace framedex::tpu_legacy
