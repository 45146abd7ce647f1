// A C client that calls the functions that no framework calls
//
// It calls every function of the table that is safe to call: devices, memories, buffers, events, programs, chunked
// transfers, and the extensions that do not depend on a device.
//
//   cc -I HEADERS -o client client.c -ldl && ./client PLUGIN.so
#include "client.h"

static PJRT_Client* client;
static PJRT_Device* device;
static PJRT_Memory* memory;
static const int64_t DIMS[] = {2, 3};
static const float VALUES[] = {0, 1, 2, 3, 4, 5};
static const int64_t ROWS[] = {1, 0};  // the last dimension varies fastest
static PJRT_Buffer_MemoryLayout row_major = {
    .struct_size = PJRT_Buffer_MemoryLayout_STRUCT_SIZE,
    .type = PJRT_Buffer_MemoryLayout_Type_Tiled,
    .tiled = {.struct_size = PJRT_Buffer_MemoryLayout_Tiled_STRUCT_SIZE, .minor_to_major = ROWS, .minor_to_major_size = 2},
};

static void deleted(void* pointer, void* argument) { (void)pointer, (void)argument; }

static void is_ready(PJRT_Error* error, void* argument) {
  *(int*)argument = 1;
  if (error != NULL) succeeded("an event's callback", error);
}

static PJRT_Buffer* put(void) {
  CALL(PJRT_Client_BufferFromHostBuffer, put, .client = client, .data = VALUES, .type = PJRT_Buffer_Type_F32,
       .dims = DIMS, .num_dims = 2, .host_buffer_semantics = PJRT_HostBufferSemantics_kImmutableOnlyDuringCall,
       .device = device);
  wait_for(put_ok ? put.done_with_host_buffer : NULL);
  return put_ok ? put.buffer : NULL;
}

static void destroy_buffer(PJRT_Buffer* buffer) {
  if (buffer == NULL) return;
  CALL(PJRT_Buffer_Destroy, destroyed, .buffer = buffer);
}

// What a plug-in and its client say of themselves.
static void ask_client(void) {
  CALL(PJRT_Plugin_Attributes, attributes);
  CALL(PJRT_Client_PlatformName, name, .client = client);
  CALL(PJRT_Client_PlatformVersion, version, .client = client);
  CALL(PJRT_Client_ProcessIndex, process, .client = client);
  CALL(PJRT_Client_Devices, all, .client = client);
  CALL(PJRT_Client_AddressableDevices, addressable, .client = client);
  CALL(PJRT_Client_AddressableMemories, memories, .client = client);
  if (!addressable_ok || addressable.num_addressable_devices == 0) return;
  device = addressable.addressable_devices[0];
  CALL(PJRT_Client_LookupDevice, by_id, .client = client, .id = 0);
  CALL(PJRT_Client_LookupDevice, unknown, .client = client, .id = 100000);
  CALL(PJRT_Client_LookupAddressableDevice, by_hardware, .client = client, .local_hardware_id = 0);
  int assignment[1];
  CALL(PJRT_Client_DefaultDeviceAssignment, assigned, .client = client, .num_replicas = 1, .num_partitions = 1,
       .default_assignment_size = 1, .default_assignment = assignment);
  PJRT_ProcessInfo infos[] = {{.struct_size = PJRT_ProcessInfo_STRUCT_SIZE, .state = PJRT_ProcessState_kConnected}};
  CALL(PJRT_Client_UpdateGlobalProcessInfo, updated, .client = client, .process_infos = infos, .num_process_infos = 1);
  printf("%.*s, %zu devices, %zu memories\n", (int)name.platform_name_size, name.platform_name, all.num_devices,
         memories.num_addressable_memories);
}

static void ask_device(void) {
  CALL(PJRT_Device_GetDescription, described, .device = device);
  PJRT_DeviceDescription* description = described.device_description;
  CALL(PJRT_DeviceDescription_Id, id, .device_description = description);
  CALL(PJRT_DeviceDescription_ProcessIndex, process, .device_description = description);
  CALL(PJRT_DeviceDescription_Attributes, attributes, .device_description = description);
  CALL(PJRT_DeviceDescription_Kind, kind, .device_description = description);
  CALL(PJRT_DeviceDescription_DebugString, debug, .device_description = description);
  CALL(PJRT_DeviceDescription_ToString, text, .device_description = description);
  CALL(PJRT_Device_IsAddressable, addressable, .device = device);
  CALL(PJRT_Device_LocalHardwareId, hardware, .device = device);
  CALL(PJRT_Device_AddressableMemories, memories, .device = device);
  CALL(PJRT_Device_DefaultMemory, usual, .device = device);
  CALL(PJRT_Device_MemoryStats, statistics, .device = device);
  CALL(PJRT_Device_ClearMemoryStats, cleared, .device = device);
  CALL(PJRT_Device_GetAttributes, own, .device = device);
  if (own_ok && own.attributes_deleter) own.attributes_deleter(own.device_attributes);
  CALL(PJRT_Device_CreateAsyncTrackingEvent, tracked, .device = device, .description = "work", .description_size = 4);
  if (tracked_ok && tracked.event) {
    CALL(PJRT_AsyncTrackingEvent_Destroy, destroyed, .event = tracked.event);
  }
  CALL(PJRT_Device_PoisonExecution, poisoned, .device = device, .launch_id = 4711,
       .error_code = PJRT_Error_Code_ABORTED, .error_message = "given up", .error_message_size = 8);
  memory = usual_ok ? usual.memory : NULL;
  if (memory == NULL) return;
  CALL(PJRT_Memory_Id, memory_id, .memory = memory);
  CALL(PJRT_Memory_Kind, memory_kind, .memory = memory);
  CALL(PJRT_Memory_Kind_Id, kind_id, .memory = memory);
  CALL(PJRT_Memory_DebugString, memory_debug, .memory = memory);
  CALL(PJRT_Memory_ToString, memory_text, .memory = memory);
  CALL(PJRT_Memory_AddressableByDevices, by, .memory = memory);
}

static void use_buffer(void) {
  PJRT_Buffer* buffer = put();
  if (buffer == NULL) return;
  CALL(PJRT_Buffer_ReadyEvent, ready, .buffer = buffer);
  if (ready_ok) {
    int called = 0;
    CALL(PJRT_Event_OnReady, watched, .event = ready.event, .callback = is_ready, .user_arg = &called);
    CALL(PJRT_Event_Await, waited, .event = ready.event);
    CALL(PJRT_Event_IsReady, asked, .event = ready.event);
    CALL(PJRT_Event_Error, failed, .event = ready.event);
    CALL(PJRT_Event_Destroy, destroyed, .event = ready.event);
  }
  CALL(PJRT_Buffer_ElementType, type, .buffer = buffer);
  CALL(PJRT_Buffer_Dimensions, dims, .buffer = buffer);
  CALL(PJRT_Buffer_UnpaddedDimensions, unpadded, .buffer = buffer);
  CALL(PJRT_Buffer_DynamicDimensionIndices, dynamic, .buffer = buffer);
  CALL(PJRT_Buffer_GetMemoryLayout, layout, .buffer = buffer);
  CALL(PJRT_Buffer_OnDeviceSizeInBytes, size, .buffer = buffer);
  CALL(PJRT_Buffer_Device, on, .buffer = buffer);
  CALL(PJRT_Buffer_Memory, in, .buffer = buffer);
  CALL(PJRT_Buffer_IsOnCpu, on_cpu, .buffer = buffer);
  CALL(PJRT_Buffer_UnsafePointer, pointer, .buffer = buffer);
  CALL(PJRT_Buffer_IncreaseExternalReferenceCount, held, .buffer = buffer);
  CALL(PJRT_Buffer_OpaqueDeviceMemoryDataPointer, opaque, .buffer = buffer);
  if (held_ok) {
    CALL(PJRT_Buffer_DecreaseExternalReferenceCount, given_back, .buffer = buffer);
  }

  float fetched[6];
  CALL(PJRT_Buffer_ToHostBuffer, asked, .src = buffer);
  CALL(PJRT_Buffer_ToHostBuffer, fetch, .src = buffer, .dst = fetched, .dst_size = sizeof fetched);
  wait_for(fetch_ok ? fetch.event : NULL);
  CALL(PJRT_Buffer_CopyRawToHost, raw, .buffer = buffer, .dst = fetched, .transfer_size = sizeof fetched);
  wait_for(raw_ok ? raw.event : NULL);
  CALL(PJRT_Buffer_CopyRawToHostFuture, later, .buffer = buffer, .transfer_size = sizeof fetched);
  if (later_ok && later.future_ready_callback) {
    PJRT_Buffer_CopyRawToHostFuture_Callback_Args there = {
        .struct_size = PJRT_Buffer_CopyRawToHostFuture_Callback_Args_STRUCT_SIZE,
        .callback_data = later.callback_data,
        .dst = fetched};
    later.future_ready_callback(&there);
    wait_for(later.event);
  }

  CALL(PJRT_Buffer_CopyToDevice, copied, .buffer = buffer, .dst_device = device);
  destroy_buffer(copied_ok ? copied.dst_buffer : NULL);
  CALL(PJRT_Buffer_CopyToMemory, moved, .buffer = buffer, .dst_memory = memory);
  destroy_buffer(moved_ok ? moved.dst_buffer : NULL);
  const int64_t flat[] = {6};
  CALL(PJRT_Buffer_Bitcast, cast, .buffer = buffer, .element_type = PJRT_Buffer_Type_S32, .dims = flat, .num_dims = 1);
  destroy_buffer(cast_ok ? cast.out_buffer : NULL);
  CALL(PJRT_Buffer_Delete, gone, .buffer = buffer);
  CALL(PJRT_Buffer_IsDeleted, is_gone, .buffer = buffer);
  CALL(PJRT_Buffer_Destroy, destroyed, .buffer = buffer);
}

static void donate(void) {
  PJRT_Buffer* buffer = put();
  if (buffer == NULL) return;
  CALL(PJRT_Buffer_DonateWithControlDependency, donated, .buffer = buffer);
  if (donated_ok && donated.dependency_ready_callback) {
    PJRT_Buffer_DonateWithControlDependency_Callback_Args done = {
        .struct_size = PJRT_Buffer_DonateWithControlDependency_Callback_Args_STRUCT_SIZE,
        .callback_data = donated.callback_data};
    donated.dependency_ready_callback(&done);
    destroy_buffer(donated.out_buffer);
  }
  destroy_buffer(buffer);
}

// Buffers that come from elsewhere than from bytes of the host.
static void make_buffers(void) {
  CALL(PJRT_Client_CreateUninitializedBuffer, empty, .client = client, .shape_dims = DIMS, .shape_num_dims = 2,
       .shape_element_type = PJRT_Buffer_Type_F32, .memory = memory);
  destroy_buffer(empty_ok ? empty.buffer : NULL);
  CALL(PJRT_Client_CreateErrorBuffer, failed, .client = client, .error_code = PJRT_Error_Code_DATA_LOSS,
       .error_message = "these bytes are lost", .error_message_size = 20, .shape_dims = DIMS, .shape_num_dims = 2,
       .shape_element_type = PJRT_Buffer_Type_F32, .memory = memory);
  destroy_buffer(failed_ok ? failed.buffer : NULL);
  static _Alignas(64) float own[6];
  CALL(PJRT_Client_CreateViewOfDeviceBuffer, view, .client = client, .device_buffer_ptr = own, .dims = DIMS,
       .num_dims = 2, .element_type = PJRT_Buffer_Type_F32, .device = device, .on_delete_callback = deleted,
       .memory = memory);
  destroy_buffer(view_ok ? view.buffer : NULL);
  CALL(PJRT_Client_CreateAliasBuffer, alias, .client = client, .memory = memory, .shape_dims = DIMS,
       .shape_num_dims = 2, .shape_element_type = PJRT_Buffer_Type_F32, .shape_layout = &row_major);
  if (alias_ok) {
    PJRT_Buffer* buffer = put();
    CALL(PJRT_Client_FulfillAliasBuffer, fulfilled, .client = client, .buffer = buffer,
         .fulfill_alias_buffer_cb = alias.fulfill_alias_buffer_cb);
    destroy_buffer(alias.alias_buffer);
    destroy_buffer(buffer);
  }
  CALL(PJRT_Client_DmaMap, mapped, .client = client, .data = own, .size = sizeof own);
  if (mapped_ok) {
    CALL(PJRT_Client_DmaUnmap, unmapped, .client = client, .data = own);
  }
}

// An array that arrives in pieces: its buffer exists before its bytes.
static void transfer_in_pieces(void) {
  PJRT_ShapeSpec shapes[3];
  for (int i = 0; i < 3; i++)
    shapes[i] = (PJRT_ShapeSpec){.struct_size = PJRT_ShapeSpec_STRUCT_SIZE,
                                 .dims = DIMS,
                                 .num_dims = 2,
                                 .element_type = PJRT_Buffer_Type_F32};
  CALL(PJRT_Client_CreateBuffersForAsyncHostToDevice, made, .client = client, .shape_specs = shapes,
       .num_shape_specs = 3, .memory = memory);
  if (!made_ok) return;
  PJRT_AsyncHostToDeviceTransferManager* manager = made.transfer_manager;
  CALL(PJRT_AsyncHostToDeviceTransferManager_Device, to, .transfer_manager = manager);
  CALL(PJRT_AsyncHostToDeviceTransferManager_BufferCount, count, .transfer_manager = manager);
  CALL(PJRT_AsyncHostToDeviceTransferManager_BufferSize, size, .transfer_manager = manager, .buffer_index = 0);
  PJRT_NamedValue metadata[] = {named_text("step", "1")};
  CALL(PJRT_AsyncHostToDeviceTransferManager_AddMetadata, noted, .transfer_manager = manager,
       .transfer_metadata = metadata, .num_metadata = 1);
  PJRT_Buffer* buffers[3] = {NULL, NULL, NULL};
  for (int i = 0; i < 3; i++) {
    CALL(PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer, taken, .transfer_manager = manager, .buffer_index = i);
    if (taken_ok) buffers[i] = taken.buffer_out;
  }
  CALL(PJRT_AsyncHostToDeviceTransferManager_TransferData, first, .transfer_manager = manager, .buffer_index = 0,
       .data = VALUES, .offset = 0, .transfer_size = 12);
  wait_for(first_ok ? first.done_with_h2d_transfer : NULL);
  CALL(PJRT_AsyncHostToDeviceTransferManager_TransferData, last, .transfer_manager = manager, .buffer_index = 0,
       .data = VALUES + 3, .offset = 12, .transfer_size = 12, .is_last_transfer = true);
  wait_for(last_ok ? last.done_with_h2d_transfer : NULL);
  CALL(PJRT_AsyncHostToDeviceTransferManager_TransferLiteral, whole, .transfer_manager = manager, .buffer_index = 1,
       .data = VALUES, .shape_dims = DIMS, .shape_num_dims = 2, .shape_element_type = PJRT_Buffer_Type_F32,
       .shape_layout = &row_major);  // XLA's own CPU client aborts without
  wait_for(whole_ok ? whole.done_with_h2d_transfer : NULL);
  CALL(PJRT_AsyncHostToDeviceTransferManager_SetBufferError, refused, .transfer_manager = manager, .buffer_index = 2,
       .error_code = PJRT_Error_Code_CANCELLED, .error_message = "not needed", .error_message_size = 10);
  CALL(PJRT_AsyncHostToDeviceTransferManager_Destroy, destroyed, .transfer_manager = manager);
  for (int i = 0; i < 3; i++) destroy_buffer(buffers[i]);
}

// Events of a client's own.
static void use_events(void) {
  CALL(PJRT_Event_Create, made);
  if (!made_ok) return;
  int called = 0;
  CALL(PJRT_Event_OnReady, watched, .event = made.event, .callback = is_ready, .user_arg = &called);
  CALL(PJRT_Event_IsReady, before, .event = made.event);
  CALL(PJRT_Event_Set, set, .event = made.event, .error_code = PJRT_Error_Code_ABORTED, .error_message = "given up",
       .error_message_size = 8);
  CALL(PJRT_Event_IsReady, after, .event = made.event);
  CALL(PJRT_Event_Error, failed, .event = made.event);
  CALL(PJRT_Event_Destroy, destroyed, .event = made.event);
}

static void ask_executable(PJRT_Executable* executable) {
  CALL(PJRT_Executable_Name, name, .executable = executable);
  CALL(PJRT_Executable_NumReplicas, replicas, .executable = executable);
  CALL(PJRT_Executable_NumPartitions, partitions, .executable = executable);
  CALL(PJRT_Executable_NumOutputs, outputs, .executable = executable);
  CALL(PJRT_Executable_SizeOfGeneratedCodeInBytes, code, .executable = executable);
  CALL(PJRT_Executable_GetCostAnalysis, costs, .executable = executable);
  CALL(PJRT_Executable_GetCompiledMemoryStats, sizes, .executable = executable);
  CALL(PJRT_Executable_OutputElementTypes, types, .executable = executable);
  CALL(PJRT_Executable_OutputDimensions, dims, .executable = executable);
  CALL(PJRT_Executable_OutputMemoryKinds, kinds, .executable = executable);
  CALL(PJRT_Executable_ParameterMemoryKinds, parameters, .executable = executable);
  CALL(PJRT_Executable_Fingerprint, fingerprint, .executable = executable);
  CALL(PJRT_Executable_GetCompileOptions, options, .executable = executable);
  if (options_ok && options.serialized_compile_options_deleter)
    options.serialized_compile_options_deleter(options.serialized_compile_options);
  PJRT_Program optimized = {.struct_size = PJRT_Program_STRUCT_SIZE};
  CALL(PJRT_Executable_OptimizedProgram, sized, .executable = executable, .program = &optimized);
  if (sized_ok && (optimized.code = malloc(optimized.code_size)) != NULL) {
    CALL(PJRT_Executable_OptimizedProgram, written, .executable = executable, .program = &optimized);
    free(optimized.code);
  }
}

static void run(PJRT_LoadedExecutable* loaded) {
  CALL(PJRT_ExecuteContext_Create, context);
  PJRT_Buffer* arguments[] = {put(), put()};
  PJRT_Buffer* const* argument_lists[] = {arguments};
  PJRT_Buffer* outputs[] = {NULL};
  PJRT_Buffer** output_lists[] = {outputs};
  PJRT_Event* done[] = {NULL};
  PJRT_ExecuteOptions options = {.struct_size = PJRT_ExecuteOptions_STRUCT_SIZE,
                                 .context = context_ok ? context.context : NULL};
  CALL(PJRT_LoadedExecutable_Execute, executed, .executable = loaded, .options = &options,
       .argument_lists = argument_lists, .num_devices = 1, .num_args = 2, .output_lists = output_lists,
       .device_complete_events = done);
  wait_for(executed_ok ? done[0] : NULL);
  for (int i = 0; i < 2; i++) destroy_buffer(arguments[i]);
  destroy_buffer(outputs[0]);
  if (context_ok) {
    CALL(PJRT_ExecuteContext_Destroy, destroyed, .context = context.context);
  }
}

static void use_loaded(PJRT_LoadedExecutable* loaded) {
  CALL(PJRT_LoadedExecutable_AddressableDevices, devices, .executable = loaded);
  CALL(PJRT_LoadedExecutable_AddressableDeviceLogicalIds, logical, .executable = loaded);
  CALL(PJRT_LoadedExecutable_GetDeviceAssignment, assigned, .executable = loaded);
  if (assigned_ok && assigned.serialized_device_assignment_deleter)
    assigned.serialized_device_assignment_deleter(assigned.serialized_device_assignment);
  CALL(PJRT_LoadedExecutable_Fingerprint, fingerprint, .executable = loaded);
  run(loaded);
  CALL(PJRT_LoadedExecutable_GetExecutable, got, .loaded_executable = loaded);
  if (got_ok) {
    ask_executable(got.executable);
    CALL(PJRT_Executable_Serialize, bytes, .executable = got.executable);
    if (bytes_ok) {
      CALL(PJRT_Executable_DeserializeAndLoad, read, .client = client,
           .serialized_executable = bytes.serialized_bytes, .serialized_executable_size = bytes.serialized_bytes_size);
      if (read_ok) {
        CALL(PJRT_LoadedExecutable_Destroy, destroyed, .executable = read.loaded_executable);
      }
      bytes.serialized_executable_deleter(bytes.serialized_executable);
    }
    CALL(PJRT_Executable_Destroy, destroyed, .executable = got.executable);
  }
  CALL(PJRT_LoadedExecutable_Delete, gone, .executable = loaded);
  CALL(PJRT_LoadedExecutable_IsDeleted, is_gone, .executable = loaded);
  CALL(PJRT_LoadedExecutable_Destroy, destroyed, .executable = loaded);
}

static void compile(void) {
  PJRT_Program add = program();
  CALL(PJRT_Client_Compile, compiled, .client = client, .program = &add, .compile_options = ONE_DEVICE,
       .compile_options_size = sizeof ONE_DEVICE);
  if (compiled_ok) use_loaded(compiled.executable);

  // The same in two steps: compile for a topology, then load.
  CALL(PJRT_Client_TopologyDescription, topology, .client = client);
  if (!topology_ok) return;
  CALL(PJRT_TopologyDescription_PlatformName, name, .topology = topology.topology);
  CALL(PJRT_TopologyDescription_PlatformVersion, version, .topology = topology.topology);
  CALL(PJRT_TopologyDescription_Attributes, attributes, .topology = topology.topology);
  CALL(PJRT_TopologyDescription_GetDeviceDescriptions, devices, .topology = topology.topology);
  CALL(PJRT_Compile, ahead, .topology = topology.topology, .program = &add, .compile_options = ONE_DEVICE,
       .compile_options_size = sizeof ONE_DEVICE, .client = client);
  if (!ahead_ok) return;
  CALL(PJRT_Client_Load, loaded, .client = client, .executable = ahead.executable, .compile_options = ONE_DEVICE,
       .compile_options_size = sizeof ONE_DEVICE);
  if (loaded_ok) {
    CALL(PJRT_LoadedExecutable_Destroy, unloaded, .executable = loaded.loaded_executable);
  } else {
    CALL(PJRT_Executable_Destroy, destroyed, .executable = ahead.executable);
  }
}

// A buffer's memory without its shape.
static void use_raw_buffer(void) {
  const PJRT_RawBuffer_Extension* raw = extension(PJRT_Extension_Type_RawBuffer);
  PJRT_Buffer* buffer = raw ? put() : NULL;
  if (buffer == NULL) return;
  float bytes[6];
  ASK(raw, PJRT_RawBuffer_CreateRawAliasOfBuffer, PJRT_RawBuffer_CreateRawAliasOfBuffer, alias, .buffer = buffer);
  if (alias_ok) {
    ASK(raw, PJRT_RawBuffer_GetOnDeviceSizeInBytes, PJRT_RawBuffer_GetOnDeviceSizeInBytes, size,
        .buffer = alias.raw_buffer);
    ASK(raw, PJRT_RawBuffer_GetMemorySpace, PJRT_RawBuffer_GetMemorySpace, in, .buffer = alias.raw_buffer);
    ASK(raw, PJRT_RawBuffer_GetHostPointer, PJRT_RawBuffer_GetHostPointer, at, .buffer = alias.raw_buffer);
    ASK(raw, PJRT_RawBuffer_CopyRawHostToDevice, PJRT_RawBuffer_CopyRawHostToDevice, written,
        .buffer = alias.raw_buffer, .src = VALUES, .transfer_size = sizeof bytes);
    wait_for(written_ok ? written.event : NULL);
    ASK(raw, PJRT_RawBuffer_CopyRawDeviceToHost, PJRT_RawBuffer_CopyRawDeviceToHost, read, .buffer = alias.raw_buffer,
        .dst = bytes, .transfer_size = sizeof bytes);
    wait_for(read_ok ? read.event : NULL);
    ASK(raw, PJRT_RawBuffer_Destroy, PJRT_RawBuffer_Destroy, destroyed, .buffer = alias.raw_buffer);
  }
  destroy_buffer(buffer);
}

// Memory of the host that the runtime likes best.
static void use_host_allocators(void) {
  const PJRT_HostAllocator_Extension* allocator = extension(PJRT_Extension_Type_HostAllocator);
  if (allocator) {
    ASK(allocator, get_preferred_alignment, PJRT_HostAllocator_GetPreferredAlignment, preferred, .client = client);
    ASK(allocator, allocate, PJRT_HostAllocator_Allocate, given, .client = client, .size = 4096, .alignment = 64);
    if (given_ok) {
      ASK(allocator, free, PJRT_HostAllocator_Free, freed, .client = client, .ptr = given.ptr);
    }
  }
  const PJRT_HostMemoryAllocator_Extension* memory_allocator = extension(PJRT_Extension_Type_HostMemoryAllocator);
  if (memory_allocator) {
    ASK(memory_allocator, allocate, PJRT_HostMemoryAllocator_Allocate, given, .client = client, .size = 4096,
        .numa_node = -1);
    if (given_ok && given.deleter) given.deleter(given.ptr, given.deleter_arg);
  }
}

// User data that the handlers of a program receive with the execution context.
static void use_ffi(void) {
  const PJRT_FFI_Extension* ffi = extension(PJRT_Extension_Type_FFI);
  static int64_t type = 0, state = 42;
  PJRT_FFI_Type_Info kept = {.deleter = NULL};
  ASK(ffi, type_register, PJRT_FFI_Type_Register, registered, .type_name = "guidebook.state", .type_name_size = 15,
      .type_id = type, .type_info = &kept);
  CALL(PJRT_ExecuteContext_Create, context);
  if (!context_ok) return;
  if (registered_ok) {
    PJRT_FFI_UserData data = {.type_id = registered.type_id, .data = &state};
    ASK(ffi, user_data_add, PJRT_FFI_UserData_Add, added, .context = context.context, .user_data = data);
  }
  CALL(PJRT_ExecuteContext_Destroy, destroyed, .context = context.context);
}

// The profiler: a table of its own, with errors of its own.
static void take_profile(void) {
  const PJRT_Profiler_Extension* profiler = extension(PJRT_Extension_Type_Profiler);
  const PLUGIN_Profiler_Api* table = profiler ? profiler->profiler_api : NULL;
  if (table == NULL) return;
  PLUGIN_Profiler_Create_Args made = {.struct_size = PLUGIN_Profiler_Create_Args_STRUCT_SIZE, .options = ""};
  PLUGIN_Profiler_Error* error = table->create(&made);
  if (error != NULL) {
    PLUGIN_Profiler_Error_Destroy_Args destroyed = {.struct_size = PLUGIN_Profiler_Error_Destroy_Args_STRUCT_SIZE,
                                                    .error = error};
    table->error_destroy(&destroyed);
    return;
  }
  PLUGIN_Profiler_Destroy_Args destroyed = {.struct_size = PLUGIN_Profiler_Destroy_Args_STRUCT_SIZE,
                                            .profiler = made.profiler};
  table->destroy(&destroyed);
}

int main(int argc, char** argv) {
  load(argc, argv);
  CALL(PJRT_Client_Create, created);
  if (!created_ok) return 1;
  client = created.client;
  ask_client();
  if (device == NULL) return 1;
  ask_device();
  use_buffer();
  donate();
  make_buffers();
  transfer_in_pieces();
  use_events();
  compile();
  use_raw_buffer();
  use_host_allocators();
  use_ffi();
  take_profile();
  CALL(PJRT_Client_Destroy, destroyed, .client = client);
  return destroyed_ok ? 0 : 1;
}
