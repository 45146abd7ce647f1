// The compiler: sizes, layouts, and programs that can run on one core.
#include <algorithm>
#include <string>
#include <utility>

#include "tpu_legacy/api.h"
#include "tpu_legacy/executable.h"
#include "tpu_legacy/shape.h"
#include "tpu_legacy/status.h"

struct Tpu_Compiler {};

namespace framedex::tpu_legacy {
namespace {

// Returns a copy that jaxlib frees with delete[].
TpuSerializedProto copy(const TpuSerializedProto& proto) {
  char* bytes = new char[proto.size];
  std::copy_n(proto.bytes, proto.size, bytes);
  return {bytes, proto.size};
}

// Returns whether the CPU program can take the array, which must have the layout of host arrays.
bool is_plain_array(const XLA_Shape& shape) { return element_size(shape.element_type) > 0 && is_row_major(shape); }

bool is_plain_result(const XLA_Shape& shape) {
  if (!is_tuple(shape)) return is_plain_array(shape);
  return std::all_of(shape.tuple_shapes, shape.tuple_shapes + shape.ntuple_shapes, is_plain_array);
}

// Returns the reason why a program cannot be run; empty if it can be.
std::string obstacle(const XLA_HloModuleConfig& config) {
  if (config.num_partitions > 1) return "is for several cores";
  if (!config.has_entry_computation_layout) return "has no layouts for its parameters";
  const XLA_ComputationLayout& layout = config.entry_computation_layout;
  bool are_plain =
      std::all_of(layout.parameter_layouts, layout.parameter_layouts + layout.parameter_count, is_plain_array);
  if (!are_plain || !is_plain_result(layout.result_layout))
    return "has parameters or results that are not dense arrays";
  return "";
}

// Optimises nothing: the CPU compiler does.
void run_passes(Tpu_Compiler*, XLA_HloModule* module, SE_StreamExecutor*, SE_DeviceMemoryAllocator*,
                XLA_HloModule* result, TF_Status*) {
  *result = {};
  result->proto = copy(module->proto);
}

void refuse(TF_Status* status, const std::string& problem) {
  fail(status, TpuStatusCode_unimplemented,
       "The mock TPU runs programs of JAX 0.4.13 that stay on one core; this one " + problem + ".");
}

void compile(Tpu_Compiler*, XLA_HloModule* module, SE_StreamExecutor*, SE_DeviceMemoryAllocator*,
             SE_Executable** result, TF_Status* status) {
  *result = nullptr;
  std::string problem = obstacle(module->module_config);
  if (!problem.empty()) return refuse(status, problem);
  std::string_view text(module->proto.bytes, module->proto.size);
  Program program;
  if (!program.compile(text, status)) return;
  *result = new_executable(std::move(program), module->module_config.entry_computation_layout.result_layout, text);
}

// Compiles a module group: jaxlib uses it for programs that the compiler partitions.
void compile_group(Tpu_Compiler*, XLA_HloModuleGroup*, SE_StreamExecutorList*, int, SE_DeviceMemoryAllocator*,
                   SE_Executable**, TF_Status* status) {
  refuse(status, "is for several cores");
}

}  // namespace

void add_compiler_functions(TpuApi& api) {
  api.TpuCompiler_New = [] { return new Tpu_Compiler; };
  api.TpuCompiler_Free = [](Tpu_Compiler* compiler) { delete compiler; };
  api.TpuCompiler_ShapeSize = [](Tpu_Compiler*, XLA_Shape* shape) { return byte_size(*shape); };
  api.TpuCompiler_DefaultDeviceShapeRepresentation = [](Tpu_Compiler*, XLA_Shape* host, XLA_Shape* device) {
    *device = copy_for_device(*host);
  };
  api.TpuCompiler_RunHloPasses = run_passes;
  api.TpuCompiler_RunBackend = compile;
  api.TpuCompiler_Compile = compile_group;
}

}  // namespace framedex::tpu_legacy
