#include "pjrt/mock/executables/executable.h"

#include <cstring>

#include "pjrt/mock/base/error.h"
#include "pjrt/traced_call.h"

namespace framedex::mock {
namespace {

const Program& program_of(const PJRT_Executable* executable) { return *executable->program; }

Memory* memory_of_kind(PJRT_Device* device, const std::string& kind) {
  for (const auto& memory : device->memories) {
    if (memory->kind_name == kind) return memory.get();
  }
  return memory_of(device, nullptr);
}

// Fills the members of a PJRT list of texts.
void fill_kinds(const std::vector<ProgramValue>& values, std::vector<const char*>& kinds, std::vector<size_t>& sizes) {
  for (const ProgramValue& value : values) {
    kinds.push_back(value.memory_kind.data());
    sizes.push_back(value.memory_kind.size());
  }
}

PJRT_Error* optimized_program(PJRT_Executable_OptimizedProgram_Args* args) {
  static constexpr char kFormat[] = "hlo_with_config";
  const std::string& code = program_of(args->executable).optimized;
  PJRT_Program* target = args->program;
  target->format = kFormat;
  target->format_size = sizeof(kFormat) - 1;
  if (target->code != nullptr) {
    if (target->code_size < code.size()) {
      return make_error(PJRT_Error_Code_INVALID_ARGUMENT, "PJRT_Executable_OptimizedProgram needs " +
                                                              std::to_string(code.size()) + " bytes, code_size is " +
                                                              std::to_string(target->code_size) + ".");
    }
    std::memcpy(target->code, code.data(), code.size());
  }
  target->code_size = code.size();
  return nullptr;
}

PJRT_Error* compiled_memory_stats(PJRT_Executable_GetCompiledMemoryStats_Args* args) {
  using Args = PJRT_Executable_GetCompiledMemoryStats_Args;
  static const std::pair<const char*, int64_t Args::*> kMembers[] = {
      {"generated_code_size_in_bytes", &Args::generated_code_size_in_bytes},
      {"argument_size_in_bytes", &Args::argument_size_in_bytes},
      {"output_size_in_bytes", &Args::output_size_in_bytes},
      {"alias_size_in_bytes", &Args::alias_size_in_bytes},
      {"temp_size_in_bytes", &Args::temp_size_in_bytes},
      {"host_generated_code_size_in_bytes", &Args::host_generated_code_size_in_bytes},
      {"host_argument_size_in_bytes", &Args::host_argument_size_in_bytes},
      {"host_output_size_in_bytes", &Args::host_output_size_in_bytes},
      {"host_alias_size_in_bytes", &Args::host_alias_size_in_bytes},
      {"host_temp_size_in_bytes", &Args::host_temp_size_in_bytes},
      {"peak_memory_in_bytes", &Args::peak_memory_in_bytes},
      {"total_size_in_bytes", &Args::total_size_in_bytes},
      {"total_allocation_bytes", &Args::total_allocation_bytes},
      {"indefinite_allocations", &Args::indefinite_allocations},
      {"peak_unpadded_heap_bytes", &Args::peak_unpadded_heap_bytes},
  };
  for (const auto& [name, member] : kMembers) {
    pjrt::set(args, member, program_of(args->executable).memory_size(name));
  }
  return nullptr;
}

void add_descriptions(PJRT_Api& api) {
  api.PJRT_Executable_Name = [](PJRT_Executable_Name_Args* args) -> PJRT_Error* {
    args->executable_name = program_of(args->executable).name.data();
    args->executable_name_size = program_of(args->executable).name.size();
    return nullptr;
  };
  api.PJRT_Executable_NumReplicas = [](PJRT_Executable_NumReplicas_Args* args) -> PJRT_Error* {
    args->num_replicas = static_cast<size_t>(program_of(args->executable).replicas);
    return nullptr;
  };
  api.PJRT_Executable_NumPartitions = [](PJRT_Executable_NumPartitions_Args* args) -> PJRT_Error* {
    args->num_partitions = static_cast<size_t>(program_of(args->executable).partitions);
    return nullptr;
  };
  api.PJRT_Executable_NumOutputs = [](PJRT_Executable_NumOutputs_Args* args) -> PJRT_Error* {
    args->num_outputs = program_of(args->executable).results.size();
    return nullptr;
  };
  api.PJRT_Executable_SizeOfGeneratedCodeInBytes =
      [](PJRT_Executable_SizeOfGeneratedCodeInBytes_Args* args) -> PJRT_Error* {
    // The CPU's machine code is not a TPU's; the optimised program's size is the closest available.
    args->size_in_bytes = static_cast<int64_t>(program_of(args->executable).optimized.size());
    return nullptr;
  };
  api.PJRT_Executable_GetCostAnalysis = [](PJRT_Executable_GetCostAnalysis_Args* args) -> PJRT_Error* {
    args->num_properties = args->executable->tables->costs.size();
    args->properties = args->executable->tables->costs.data();
    return nullptr;
  };
  api.PJRT_Executable_OutputMemoryKinds = [](PJRT_Executable_OutputMemoryKinds_Args* args) -> PJRT_Error* {
    const ExecutableTables& tables = *args->executable->tables;
    args->num_outputs = tables.result_memory_kinds.size();
    args->memory_kinds = tables.result_memory_kinds.data();
    args->memory_kind_sizes = tables.result_memory_kind_sizes.data();
    return nullptr;
  };
  api.PJRT_Executable_ParameterMemoryKinds = [](PJRT_Executable_ParameterMemoryKinds_Args* args) -> PJRT_Error* {
    const ExecutableTables& tables = *args->executable->tables;
    args->num_parameters = tables.parameter_memory_kinds.size();
    args->memory_kinds = tables.parameter_memory_kinds.data();
    args->memory_kind_sizes = tables.parameter_memory_kind_sizes.data();
    return nullptr;
  };
  api.PJRT_Executable_OutputElementTypes = [](PJRT_Executable_OutputElementTypes_Args* args) -> PJRT_Error* {
    // The API is not const-correct: callers must not change the list.
    args->output_types = const_cast<PJRT_Buffer_Type*>(args->executable->tables->result_types.data());
    args->num_output_types = args->executable->tables->result_types.size();
    return nullptr;
  };
  api.PJRT_Executable_OutputDimensions = [](PJRT_Executable_OutputDimensions_Args* args) -> PJRT_Error* {
    const ExecutableTables& tables = *args->executable->tables;
    args->num_outputs = tables.result_ranks.size();
    args->dims = tables.result_dims.data();
    args->dim_sizes = tables.result_ranks.data();
    return nullptr;
  };
  api.PJRT_Executable_Fingerprint = [](PJRT_Executable_Fingerprint_Args* args) -> PJRT_Error* {
    args->executable_fingerprint = program_of(args->executable).fingerprint.data();
    args->executable_fingerprint_size = program_of(args->executable).fingerprint.size();
    return nullptr;
  };
  api.PJRT_Executable_OptimizedProgram = optimized_program;
  api.PJRT_Executable_GetCompiledMemoryStats = compiled_memory_stats;
}

void add_loaded_functions(PJRT_Api& api) {
  api.PJRT_LoadedExecutable_Destroy = [](PJRT_LoadedExecutable_Destroy_Args* args) -> PJRT_Error* {
    delete args->executable;
    return nullptr;
  };
  api.PJRT_LoadedExecutable_GetExecutable = [](PJRT_LoadedExecutable_GetExecutable_Args* args) -> PJRT_Error* {
    args->executable = new PJRT_Executable(args->loaded_executable->executable);
    return nullptr;
  };
  api.PJRT_LoadedExecutable_AddressableDevices =
      [](PJRT_LoadedExecutable_AddressableDevices_Args* args) -> PJRT_Error* {
    args->addressable_devices = args->executable->devices.data();
    args->num_addressable_devices = args->executable->devices.size();
    return nullptr;
  };
  api.PJRT_LoadedExecutable_AddressableDeviceLogicalIds =
      [](PJRT_LoadedExecutable_AddressableDeviceLogicalIds_Args* args) -> PJRT_Error* {
    args->addressable_device_logical_ids = args->executable->logical_ids.data();
    args->num_addressable_device_logical_ids = args->executable->logical_ids.size();
    return nullptr;
  };
  api.PJRT_LoadedExecutable_GetDeviceAssignment =
      [](PJRT_LoadedExecutable_GetDeviceAssignment_Args* args) -> PJRT_Error* {
    // The bytes belong to the executable, which the caller keeps while it uses them.
    const std::string& assignment = args->executable->executable.program->device_assignment;
    args->serialized_bytes = assignment.data();
    args->serialized_bytes_size = assignment.size();
    args->serialized_device_assignment = nullptr;
    args->serialized_device_assignment_deleter = [](PJRT_DeviceAssignmentSerialized*) {};
    return nullptr;
  };
  api.PJRT_LoadedExecutable_Delete = [](PJRT_LoadedExecutable_Delete_Args* args) -> PJRT_Error* {
    args->executable->is_deleted = true;
    return nullptr;
  };
  api.PJRT_LoadedExecutable_IsDeleted = [](PJRT_LoadedExecutable_IsDeleted_Args* args) -> PJRT_Error* {
    args->is_deleted = args->executable->is_deleted;
    return nullptr;
  };
  api.PJRT_LoadedExecutable_Fingerprint = [](PJRT_LoadedExecutable_Fingerprint_Args* args) -> PJRT_Error* {
    const std::string& fingerprint = args->executable->executable.program->fingerprint;
    args->executable_fingerprint = fingerprint.data();
    args->executable_fingerprint_size = fingerprint.size();
    return nullptr;
  };
}

}  // namespace

ExecutableTables::ExecutableTables(const Program& program) {
  for (const ProgramValue& result : program.results) {
    result_types.push_back(result.shape->type);
    result_dims.insert(result_dims.end(), result.shape->dims.begin(), result.shape->dims.end());
    result_ranks.push_back(result.shape->dims.size());
  }
  fill_kinds(program.results, result_memory_kinds, result_memory_kind_sizes);
  fill_kinds(program.parameters, parameter_memory_kinds, parameter_memory_kind_sizes);
  for (const auto& [name, value] : program.costs) {
    PJRT_NamedValue cost{};
    cost.struct_size = PJRT_NamedValue_STRUCT_SIZE;
    cost.name = name.data();
    cost.name_size = name.size();
    cost.type = PJRT_NamedValue_kFloat;
    cost.float_value = static_cast<float>(value);
    cost.value_size = 1;
    costs.push_back(cost);
  }
  add_layouts(program.parameters, parameter_layouts);
  add_layouts(program.results, result_layouts);
}

void ExecutableTables::add_layouts(const std::vector<ProgramValue>& values,
                                   std::vector<PJRT_Layouts_MemoryLayout*>& layouts) {
  for (const ProgramValue& value : values) {
    layouts.push_back(
        &layouts_.emplace_back(PJRT_Layouts_MemoryLayout{to_text(value.shape->layout, value.shape->type)}));
  }
}

void add_executable_functions(PJRT_Api& api) {
  add_descriptions(api);
  add_loaded_functions(api);
  api.PJRT_Executable_Destroy = [](PJRT_Executable_Destroy_Args* args) -> PJRT_Error* {
    delete args->executable;
    return nullptr;
  };
}

}  // namespace framedex::mock

PJRT_LoadedExecutable::PJRT_LoadedExecutable(PJRT_Client* owner, framedex::mock::Delegate* runner,
                                             std::shared_ptr<const framedex::mock::Program> compiled)
    : client(owner),
      delegate(runner),
      executable(std::move(compiled)),
      transfers(executable.program->has_transfers ? framedex::mock::HostTransfers::create(executable.program->key)
                                                  : nullptr) {
  const framedex::mock::Program& program = *executable.program;
  for (size_t i = 0; i < program.device_ids.size(); ++i) {
    PJRT_Device* device = client->devices_by_id.at(program.device_ids[i]);
    if (!device->is_addressable()) continue;
    devices.push_back(device);
    cpu_ordinals.push_back(program.cpu_ordinals[i]);
    auto partitions = static_cast<size_t>(program.partitions);
    logical_ids.push_back({static_cast<int>(i / partitions), static_cast<int>(i % partitions)});
    for (const auto& result : program.results) {
      result_memories.push_back(framedex::mock::memory_of_kind(device, result.memory_kind));
    }
  }
}
