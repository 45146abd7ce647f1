// The platform, which is queried before any devices exist.
#include <cstring>

#include "tpu_legacy/api.h"
#include "tpu_legacy/machine.h"
#include "tpu_legacy/status.h"

struct SE_Platform {
  bool is_initialized = false;
};

struct SE_StreamExecutorConfig {
  int ordinal = -1;
};

struct SE_DeviceOptions {
  unsigned int flags;
};

namespace framedex::tpu_legacy {
namespace {

// Its address is the platform's id, which must differ from all others.
const char kPlatformId = 0;
const char kRuntime[] = "framedex mock TPU";

SE_PlatformId platform_id() { return {const_cast<char*>(&kPlatformId)}; }

void initialize(SE_Platform* platform, size_t, const char**, const char**, TF_Status* status) {
  std::string problem;
  platform->is_initialized = Machine::open(problem) != nullptr;
  if (!platform->is_initialized) {
    fail(status, TpuStatusCode_invalid_argument, "The mock TPU cannot be opened: " + problem + ".");
  }
}

SE_StreamExecutor* executor(SE_Platform*, SE_StreamExecutorConfig* config, TF_Status* status) {
  SE_StreamExecutor* found = Machine::get().executor(config->ordinal);
  if (found == nullptr) {
    fail(status, TpuStatusCode_not_found, "There is no core " + std::to_string(config->ordinal) + ".");
  }
  return found;
}

TpuRuntimeVersion runtime_version(SE_Platform*) {
  TpuRuntimeVersion version{};
  version.metadata = kRuntime;
  version.metadata_size = std::strlen(kRuntime);
  return version;
}

}  // namespace

void add_platform_functions(TpuApi& api) {
  api.TpuPlatform_New = [] { return new SE_Platform; };
  api.TpuPlatform_Free = [](SE_Platform* platform) { delete platform; };
  api.TpuPlatform_Initialize = initialize;
  api.TpuPlatform_Initialized = [](SE_Platform* platform) { return platform->is_initialized; };
  api.TpuPlatform_GetExecutor = executor;
  api.TpuPlatform_Id = [](SE_Platform*) { return platform_id(); };
  api.TpuPlatform_VisibleDeviceCount = [](SE_Platform*) -> int64_t {
    std::string problem;
    Machine* machine = Machine::open(problem);
    return machine == nullptr ? 0 : machine->core_count();
  };
  api.TpuPlatform_TpuMemoryLimit = [](SE_Platform*) { return Machine::get().settings().memory; };
  api.TpuPlatform_GetRuntimeVersion = runtime_version;
  api.TpuStreamExecutorConfig_Default = [] { return new SE_StreamExecutorConfig; };
  api.TpuStreamExecutorConfig_SetOrdinal = [](SE_StreamExecutorConfig* config, int ordinal) {
    config->ordinal = ordinal;
  };
  api.TpuStreamExecutorConfig_Free = [](SE_StreamExecutorConfig* config) { delete config; };
  api.TpuExecutor_NewDeviceOptions = [](unsigned int flags) { return new SE_DeviceOptions{flags}; };
  api.TpuExecutor_FreeDeviceOptions = [](SE_DeviceOptions* options) { delete options; };
  api.TpuTransferManager_PlatformId = [](XLA_TransferManager*) { return platform_id(); };
}

}  // namespace framedex::tpu_legacy
