// Compiling for a topology without devices
//
// The client queries a topology and compiles for it, without a device. The compiler in libtpu describes the chips of a
// slice, their hosts and their connections.
//
//   cc -I HEADERS -o topology topology.c -ldl && ./topology PLUGIN.so [TOPOLOGY]
#include "client.h"

static PJRT_TopologyDescription* topology;

static void release(PJRT_TopologyDescription* made) {
  CALL(PJRT_TopologyDescription_Destroy, destroyed, .topology = made);
}

static void describe(void) {
  CALL(PJRT_TopologyDescription_PlatformName, name, .topology = topology);
  CALL(PJRT_TopologyDescription_PlatformVersion, version, .topology = topology);
  CALL(PJRT_TopologyDescription_Attributes, attributes, .topology = topology);
  CALL(PJRT_TopologyDescription_Fingerprint, fingerprint, .topology = topology);
  CALL(PJRT_TopologyDescription_GetMemorySpaceKindIds, kinds, .topology = topology);
  const int64_t dims[] = {16, 128};
  for (size_t i = 0; kinds_ok && i < kinds.num_memory_space_kind_ids; i++) {
    CALL(PJRT_TopologyDescription_MakeCanonicalShapeForMemorySpace, shape, .topology = topology,
         .memory_space_kind_id = kinds.memory_space_kind_ids[i], .dims = dims, .num_dims = 2,
         .element_type = PJRT_Buffer_Type_F32);
    if (shape_ok && shape.serialized_shape_deleter) shape.serialized_shape_deleter(shape.serialized_shape);
  }
  CALL(PJRT_TopologyDescription_GetDeviceDescriptions, devices, .topology = topology);
  printf("%zu devices\n", devices_ok ? devices.num_descriptions : 0);
  const PJRT_MemoryDescriptions_Extension* memories = extension(PJRT_Extension_Type_MemoryDescriptions);
  if (memories == NULL || !devices_ok || devices.num_descriptions == 0) return;
  ASK(memories, PJRT_DeviceDescription_MemoryDescriptions, PJRT_DeviceDescription_MemoryDescriptions, found,
      .device_description = devices.descriptions[0]);
  for (size_t i = 0; found_ok && i < found.num_memory_descriptions; i++) {
    ASK(memories, PJRT_MemoryDescription_Kind, PJRT_MemoryDescription_Kind, kind,
        .memory_description = found.memory_descriptions[i]);
  }
}

static void write_and_read(void) {
  CALL(PJRT_TopologyDescription_Serialize, bytes, .topology = topology);
  if (!bytes_ok) return;
  CALL(PJRT_TopologyDescription_Deserialize, read, .serialized_topology = bytes.serialized_bytes,
       .serialized_topology_size = bytes.serialized_bytes_size);
  if (read_ok) release(read.topology);
  bytes.serialized_topology_deleter(bytes.serialized_topology);
}

// Functions of the extension for TPUs that ask a topology for one thing.
#define COUNT(member, function, name) ASK(tpu, member, PJRT_TpuTopology_##function, name, .topology = topology)

static void count_chips(const PJRT_TpuTopology_Extension* tpu) {
  COUNT(is_subslice_topology, IsSubsliceTopology, subslice);
  COUNT(is_enhanced_barrier_enabled, IsEnhancedBarrierEnabled, barrier);
  COUNT(has_limited_ici_connectivity, HasLimitedIciConnectivity, limited);
  COUNT(process_count, ProcessCount, processes);
  COUNT(chips_per_process, ChipsPerProcess, per_process);
  COUNT(core_count_per_chip, CoreCountPerChip, cores_of_chip);
  COUNT(chip_count, ChipCount, chips);
  COUNT(core_count, CoreCount, cores);
  COUNT(core_count_per_process, CoreCountPerProcess, cores_of_process);
  COUNT(logical_device_count, LogiDeviceCount, devices);
  COUNT(logical_device_count_per_process, LogiDeviceCountPerProcess, devices_of_process);
  COUNT(logical_device_count_per_chip, LogiDeviceCountPerChip, devices_of_chip);
  ASK(tpu, is_reachable_over_limited_ici, PJRT_TpuTopology_IsReachableOverLimitedIci, reachable, .topology = topology,
      .source_chip_id = 0, .dest_chip_id = 1);
  char strategy[64] = "";
  ASK(tpu, get_routing_strategy, PJRT_TpuTopology_GetRoutingStrategy, routing, .topology = topology,
      .routing_strategy = strategy, .routing_strategy_len = sizeof strategy);
}

static void find_chips(const PJRT_TpuTopology_Extension* tpu) {
  int32_t ids[64], coordinates[4];
  ASK(tpu, process_ids, PJRT_TpuTopology_ProcessIds, processes, .topology = topology, .max_process_ids = 64,
      .process_ids = ids);
  ASK(tpu, logical_device_ids_on_process, PJRT_TpuTopology_LogiDeviceIdsOnProcess, devices, .topology = topology,
      .process_id = 0, .max_logical_device_ids = 64, .logical_device_of_default_type_ids = ids);
  ASK(tpu, proc_id_and_idx_on_proc_for_chip, PJRT_TpuTopology_ProcIdAndIdxOnProcForChip, of_chip,
      .topology = topology, .chip_id = 0);
  ASK(tpu, proc_id_and_idx_on_proc_for_logi_device, PJRT_TpuTopology_ProcIdAndIdxOnProcForLogiDevice, of_device,
      .topology = topology, .device_id = 0);
  ASK(tpu, process_coord_from_id, PJRT_TpuTopology_ProcessCoordFromId, process, .topology = topology, .process_id = 0,
      .coords_max_dims = 4, .coords = coordinates);
  ASK(tpu, chip_coord_and_idx_for_logi_device, PJRT_TpuTopology_ChipCoordAndIdxForLogiDevice, chip,
      .topology = topology, .device_id = 0, .chip_coords_max_dims = 4, .chip_coords = coordinates);
  if (chip_ok) {
    ASK(tpu, chip_id_from_coord, PJRT_TpuTopology_ChipIdFromCoord, id, .topology = topology, .coords = coordinates,
        .coords_num_dims = chip.chip_coords_num_dims);
    ASK(tpu, logical_device_id_from_chip_coord_and_idx, PJRT_TpuTopology_LogiDeviceIdFromChipCoordAndIdx, device,
        .topology = topology, .chip_coords = coordinates, .chip_coords_num_dims = chip.chip_coords_num_dims);
  }
  int32_t bounds[4];
  ASK(tpu, chips_per_process_bounds, PJRT_TpuTopology_ChipsPerProcessBounds, per_process, .topology = topology,
      .chip_per_process_bounds_max_dims = 4, .chip_per_process_bounds = bounds);
  ASK(tpu, chip_bounds, PJRT_TpuTopology_ChipBounds, chips, .topology = topology, .chip_bounds_max_dims = 4,
      .chip_bounds = bounds);
  ASK(tpu, process_bounds, PJRT_TpuTopology_ProcessBounds, by_process, .topology = topology,
      .process_bounds_max_dims = 4, .process_bounds = bounds);
}

static void cut_slices(const PJRT_TpuTopology_Extension* tpu) {
  const int32_t chips[] = {2, 2, 1}, hosts[] = {1, 1, 1}, origin[] = {0, 0, 0};
  ASK(tpu, subslice, PJRT_TpuTopology_Subslice, part, .topology = topology, .chips_per_host_bounds = chips,
      .chips_per_host_bounds_num_dims = 3, .host_bounds = hosts, .host_bounds_num_dims = 3);
  if (part_ok) {
    ASK(tpu, subslice_device_id_from_full_device_id, PJRT_TpuTopology_SubsliceDeviceIdFromFullDeviceId, id,
        .client_topology = topology, .subslice_topology = part.subslice_topology, .subslice_origin = origin,
        .subslice_origin_dim_num = 3);
    release(part.subslice_topology);
  }
  ASK(tpu, replace_host_bounds, PJRT_TpuTopology_ReplaceHostBounds, replaced, .topology = topology,
      .host_bounds = hosts, .host_bounds_dim_num = 3);
  if (replaced_ok) release(replaced.new_topology);
  PJRT_TpuTopology_SliceConfig configs[64];
  ASK(tpu, get_slice_config, PJRT_TpuTopology_GetSliceConfig, one, .platform_type_name = "v5e",
      .platform_type_name_len = 3, .slice_name = "4x4", .slice_name_len = 3, .slice_config = configs);
  ASK(tpu, get_slice_configs, PJRT_TpuTopology_GetSliceConfigs, all, .platform_type_name = "v5e",
      .platform_type_name_len = 3, .slice_configs = configs, .max_slice_configs = 64);
  ASK(tpu, get_default_platform_config, PJRT_TpuTopology_GetDefaultPlatformConfig, usual, .platform_type_name = "v5e",
      .platform_type_name_len = 3);
}

// Layouts, shardings and the versions of what was compiled.
static void ask_extensions(PJRT_Executable* executable) {
  const PJRT_Layouts_Extension* layouts = extension(PJRT_Extension_Type_Layouts);
  const int64_t dims[] = {2, 3};
  ASK(layouts, PJRT_Layouts_PJRT_Topology_GetDefaultLayout, PJRT_Layouts_PJRT_Topology_GetDefaultLayout, usual,
      .topology_description = topology, .type = PJRT_Buffer_Type_F32, .dims = dims,
      .num_dims = 2);
  if (usual_ok) {
    ASK(layouts, PJRT_Layouts_MemoryLayout_Serialize, PJRT_Layouts_MemoryLayout_Serialize, text,
        .layout = usual.layout);
    if (text_ok) text.serialized_layout_deleter(text.serialized_layout);
    ASK(layouts, PJRT_Layouts_MemoryLayout_Destroy, PJRT_Layouts_MemoryLayout_Destroy, destroyed,
        .layout = usual.layout);
  }
  ASK(layouts, PJRT_Layouts_PJRT_Executable_GetOutputLayouts, PJRT_Layouts_PJRT_Executable_GetOutputLayouts, outputs,
      .executable = executable);
  ASK(layouts, PJRT_Layouts_PJRT_Executable_GetParameterLayouts, PJRT_Layouts_PJRT_Executable_GetParameterLayouts,
      parameters, .executable = executable);
  const PJRT_Shardings_Extension* shardings = extension(PJRT_Extension_Type_Shardings);
  ASK(shardings, PJRT_Shardings_PJRT_Executable_ParameterShardings, PJRT_Shardings_PJRT_Executable_ParameterShardings,
      of_parameters, .executable = executable);
  ASK(shardings, PJRT_Shardings_PJRT_Executable_OutputShardings, PJRT_Shardings_PJRT_Executable_OutputShardings,
      of_outputs, .executable = executable);
}

// The version of a runtime, read from the bytes of what was compiled for one.
static void ask_runtime_version(PJRT_ExecutableAbiVersion* executable, const char* proto, size_t size) {
  const PJRT_AbiVersion_Extension* versions = extension(PJRT_Extension_Type_AbiVersion);
  ASK(versions, runtime_abi_version_from_proto, PJRT_RuntimeAbiVersion_FromProto, runtime, .serialized_proto = proto,
      .serialized_proto_size = size);
  if (!runtime_ok) return;
  ASK(versions, runtime_abi_version_platform_id, PJRT_RuntimeAbiVersion_PlatformId, platform,
      .abi_version = runtime.abi_version);
  ASK(versions, runtime_abi_version_is_compatible_with_runtime, PJRT_RuntimeAbiVersion_IsCompatibleWithRuntime, itself,
      .abi_version = runtime.abi_version, .other_abi_version = runtime.abi_version);
  ASK(versions, runtime_abi_version_is_compatible_with_executable, PJRT_RuntimeAbiVersion_IsCompatibleWithExecutable,
      program, .abi_version = runtime.abi_version, .executable_abi_version = executable);
  ASK(versions, runtime_abi_version_to_proto, PJRT_RuntimeAbiVersion_ToProto, bytes,
      .abi_version = runtime.abi_version);
  if (bytes_ok) bytes.serialized_proto_deleter(bytes.serialized_proto_holder);
  ASK(versions, runtime_abi_version_destroy, PJRT_RuntimeAbiVersion_Destroy, destroyed,
      .abi_version = runtime.abi_version);
}

static void ask_version(PJRT_Executable* executable) {
  const PJRT_AbiVersion_Extension* versions = extension(PJRT_Extension_Type_AbiVersion);
  ASK(versions, executable_get_abi_version, PJRT_Executable_GetAbiVersion, version, .executable = executable);
  if (!version_ok) return;
  ASK(versions, executable_abi_version_platform_id, PJRT_ExecutableAbiVersion_PlatformId, platform,
      .abi_version = version.abi_version);
  ASK(versions, executable_abi_version_to_proto, PJRT_ExecutableAbiVersion_ToProto, bytes,
      .abi_version = version.abi_version);
  if (bytes_ok) {
    ASK(versions, executable_abi_version_from_proto, PJRT_ExecutableAbiVersion_FromProto, read,
        .serialized_proto = bytes.serialized_proto, .serialized_proto_size = bytes.serialized_proto_size);
    if (read_ok) {
      ASK(versions, executable_abi_version_destroy, PJRT_ExecutableAbiVersion_Destroy, destroyed,
          .abi_version = read.abi_version);
    }
    ask_runtime_version(version.abi_version, bytes.serialized_proto, bytes.serialized_proto_size);
    bytes.serialized_proto_deleter(bytes.serialized_proto_holder);
  }
  ASK(versions, executable_abi_version_destroy, PJRT_ExecutableAbiVersion_Destroy, destroyed,
      .abi_version = version.abi_version);
}

// The two functions here whose arguments begin without a size.
static void ask_metadata(PJRT_Executable* executable) {
  const PJRT_ExecutableMetadata_Extension* descriptions = extension(PJRT_Extension_Type_ExecutableMetadata);
  if (descriptions == NULL) return;
  PJRT_ExecutableMetadata_GetExecutableMetadata_Args found = {.executable = executable};
  if (!succeeded("GetExecutableMetadata", descriptions->get_executable_metadata(&found))) return;
  PJRT_ExecutableMetadata_DestroySerializedMetadata_Args freed = {.metadata = found.metadata};
  descriptions->destroy_serialized_metadata(&freed);
}

// What libtpu reads out of the bytes of a program.
static void read_bytes(const char* bytes, size_t size) {
  const PJRT_TpuExecutable_Extension* tpu = extension(PJRT_Extension_Type_TpuExecutable);
  ASK(tpu, get_target_arguments, PJRT_TpuExecutable_GetTargetArguments, target, .serialized_executable = bytes,
      .serialized_executable_size = size);
  ASK(tpu, get_hlo_module_with_config, PJRT_TpuExecutable_GetHloModuleWithConfig, module,
      .serialized_executable = bytes, .serialized_executable_size = size);
  ASK(tpu, get_compiled_memory_stats, PJRT_TpuExecutable_GetCompiledMemoryStats, sizes,
      .serialized_executable = bytes, .serialized_executable_size = size);
  if (target_ok && module_ok) {
    const char* modules[] = {module.hlo_module_with_config};
    size_t module_sizes[] = {module.hlo_module_with_config_size};
    ASK(tpu, run_hlo_cost_analysis, PJRT_TpuExecutable_RunHloCostAnalysis, costs,
        .target_arguments = target.target_arguments, .target_arguments_size = target.target_arguments_size,
        .hlo_module = modules, .hlo_module_size = module_sizes, .num_hlo_modules = 1);
    if (costs_ok) costs.analysis_results_deleter(costs.analysis_results_ptr);
  }
  ASK(tpu, set_tpu_compilation_env, PJRT_TpuExecutable_SetTpuCompilationEnv, options,
      .serialized_compilation_environments = "");
  if (options_ok) {
    ASK(tpu, get_tpu_compilation_env_field_as_string, PJRT_TpuExecutable_GetTpuCompilationEnvFieldAsString, field,
        .serialized_compilation_environments = options.result_compilation_environments,
        .serialized_compilation_environments_size = options.result_compilation_environments_size,
        .field_name = "xla_tpu_scoped_vmem_limit_kib", .field_name_size = 29);
    if (field_ok && field.field_value_deleter) field.field_value_deleter(field.field_value_ptr);
    options.result_compilation_environments_deleter(options.result_compilation_environments_ptr);
  }
  ASK(tpu, is_tpu_predetermined_error, PJRT_TpuExecutable_IsTpuPredeterminedError, known, .serialized_status = "");
  if (target_ok) target.target_arguments_deleter(target.target_arguments_ptr);
  if (module_ok) module.hlo_module_with_config_deleter(module.hlo_module_with_config_ptr);
  if (sizes_ok) sizes.compiled_memory_stats_deleter(sizes.compiled_memory_stats_ptr);
}

static void compile(void) {
  PJRT_Program add = program();
  CALL(PJRT_Compile, compiled, .topology = topology, .program = &add, .compile_options = ONE_DEVICE,
       .compile_options_size = sizeof ONE_DEVICE);
  if (!compiled_ok) return;
  CALL(PJRT_Executable_SizeOfGeneratedCodeInBytes, size, .executable = compiled.executable);
  CALL(PJRT_Executable_GetCostAnalysis, costs, .executable = compiled.executable);
  CALL(PJRT_Executable_GetCompiledMemoryStats, sizes, .executable = compiled.executable);
  CALL(PJRT_Executable_OutputElementTypes, types, .executable = compiled.executable);
  CALL(PJRT_Executable_OutputDimensions, dims, .executable = compiled.executable);
  CALL(PJRT_Executable_OutputMemoryKinds, kinds, .executable = compiled.executable);
  CALL(PJRT_Executable_ParameterMemoryKinds, parameters, .executable = compiled.executable);
  ask_extensions(compiled.executable);
  ask_version(compiled.executable);
  ask_metadata(compiled.executable);
  CALL(PJRT_Executable_Serialize, bytes, .executable = compiled.executable);
  if (bytes_ok) {
    read_bytes(bytes.serialized_bytes, bytes.serialized_bytes_size);
    bytes.serialized_executable_deleter(bytes.serialized_executable);
  }
  CALL(PJRT_Executable_Destroy, destroyed, .executable = compiled.executable);
}

static void ask_phases(void) {
  const PJRT_PhaseCompile_Extension* phases = extension(PJRT_Extension_Type_PhaseCompile);
  ASK(phases, phase_compile_get_compiler, PJRT_PhaseCompile_Get_Compiler, got);
  if (!got_ok) return;
  ASK(phases, phase_compile_get_phase_names, PJRT_PhaseCompile_Get_PhaseNames, names,
      .phase_compiler = got.phase_compiler);
  if (names_ok) {
    PJRT_PhaseCompile_C_Buffers_Destroy_Args freed = {.struct_size = PJRT_PhaseCompile_C_Buffers_Destroy_Args_STRUCT_SIZE,
                                                      .char_buffers = names.phase_names,
                                                      .char_buffer_sizes = names.phase_names_sizes,
                                                      .num_char_buffers = names.num_phase_names};
    phases->phase_compile_c_buffers_destroy(&freed);
  }
  PJRT_PhaseCompile_Destroy_Compiler_Args destroyed = {
      .struct_size = PJRT_PhaseCompile_Destroy_Compiler_Args_STRUCT_SIZE, .phase_compiler = got.phase_compiler};
  phases->phase_compile_destroy_compiler(&destroyed);
}

static void use_slices(void) {
  const PJRT_Megascale_Extension* megascale = extension(PJRT_Extension_Type_Megascale);
  const PJRT_MultiSlice_Extension* slices = extension(PJRT_Extension_Type_MultiSlice);
  ASK(megascale, device_id_to_megascale_id, PJRT_Megascale_DeviceId_To_MegascaleId, id, .slice_id = 1,
      .per_slice_device_id = 2);
  ASK(megascale, megascale_id_to_device_id, PJRT_Megascale_MegascaleId_To_DeviceId, back,
      .megascale_id = id_ok ? id.megascale_id : 0);
  ASK(megascale, create_aot_config, PJRT_Megascale_CreateAoTConfig, made, .topology = topology, .num_slices = 2);
  if (!made_ok || made.multi_slice_config == NULL) return;
  ASK(slices, config_num_slices, PJRT_MultiSlice_Config_NumSlices, count, .config = made.multi_slice_config);
  ASK(slices, config_slice_id, PJRT_MultiSlice_Config_SliceId, own, .config = made.multi_slice_config);
  ASK(slices, config_num_devices_per_slice, PJRT_MultiSlice_Config_NumDevicesPerSlice, devices,
      .config = made.multi_slice_config);
  if (devices_ok) devices.devices_per_slice_map_deleter(devices.devices_per_slice_map);
  ASK(slices, config_serialize, PJRT_MultiSlice_Config_Serialize, bytes, .config = made.multi_slice_config);
  if (bytes_ok) bytes.serialized_config_deleter(bytes.serialized_config);
  ASK(slices, config_destroy, PJRT_MultiSlice_Config_Destroy, destroyed, .config = made.multi_slice_config);
}

// Errors of many hosts, gathered in one place.
static void gather_errors(void) {
  const PJRT_Megascale_Extension* megascale = extension(PJRT_Extension_Type_Megascale);
  ASK(megascale, error_aggregator_create, PJRT_Megascale_ErrorAggregator_Create, made, .app_type = "guidebook",
      .app_type_size = 9);
  if (!made_ok) return;
  ASK(megascale, error_aggregator_active, PJRT_Megascale_ErrorAggregator_Active, active, .aggregator = made.aggregator);
  ASK(megascale, error_aggregator_size, PJRT_Megascale_ErrorAggregator_Size, size, .aggregator = made.aggregator);
  ASK(megascale, error_aggregator_delete, PJRT_Megascale_ErrorAggregator_Delete, gone, .aggregator = made.aggregator);
}

static void use_client_context(void) {
  const PJRT_Megascale_Extension* megascale = extension(PJRT_Extension_Type_Megascale);
  ASK(megascale, create_default_client_context, PJRT_Megascale_CreateDefaultClientContext, made);
  if (!made_ok) return;
  ASK(megascale, client_context_megascale_port, PJRT_Megascale_ClientContext_MegascalePort, port,
      .client_context = made.client_context);
  ASK(megascale, delete_client_context, PJRT_Megascale_DeleteClientContext, gone,
      .client_context = made.client_context);
}

int main(int argc, char** argv) {
  load(argc, argv);
  const char* name = argc > 2 ? argv[2] : "v5e:4x4";
  CALL(PJRT_TopologyDescription_Create, created, .topology_name = name, .topology_name_size = strlen(name));
  if (!created_ok) return 1;
  topology = created.topology;
  describe();
  write_and_read();
  const PJRT_TpuTopology_Extension* tpu = extension(PJRT_Extension_Type_TpuTopology);
  count_chips(tpu);
  find_chips(tpu);
  cut_slices(tpu);
  compile();
  ask_phases();
  use_slices();
  gather_errors();
  use_client_context();
  release(created.topology);
  return 0;
}
