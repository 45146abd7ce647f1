// The compiler as far as it is asked for sizes and layouts. Programs are not run: compiling one says so.
#include "tpu_legacy/api.h"
#include "tpu_legacy/shape.h"
#include "tpu_legacy/status.h"

struct Tpu_Compiler {};

namespace framedex::tpu_legacy {
namespace {

void refuse(TF_Status* status) {
  fail(
      status, TpuStatusCode_unimplemented,
      "The mock TPU runs no programs for jaxlib 0.4.13: it has device_put, transfers and deletion. With jaxlib 0.8 and "
      "newer it runs them.");
}

}  // namespace

void add_compiler_functions(TpuApi& api) {
  api.TpuCompiler_New = [] { return new Tpu_Compiler; };
  api.TpuCompiler_Free = [](Tpu_Compiler* compiler) { delete compiler; };
  api.TpuCompiler_ShapeSize = [](Tpu_Compiler*, XLA_Shape* shape) { return byte_size(*shape); };
  api.TpuCompiler_DefaultDeviceShapeRepresentation = [](Tpu_Compiler*, XLA_Shape* host, XLA_Shape* device) {
    *device = copy_for_device(*host);
  };
  api.TpuCompiler_RunHloPasses = [](Tpu_Compiler*, XLA_HloModule*, SE_StreamExecutor*, SE_DeviceMemoryAllocator*,
                                    XLA_HloModule* result, TF_Status* status) {
    *result = {};
    refuse(status);
  };
  api.TpuCompiler_RunBackend = [](Tpu_Compiler*, XLA_HloModule*, SE_StreamExecutor*, SE_DeviceMemoryAllocator*,
                                  SE_Executable** result, TF_Status* status) {
    *result = nullptr;
    refuse(status);
  };
}

}  // namespace framedex::tpu_legacy
