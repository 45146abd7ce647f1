#include "pjrt/mock/buffer.h"

#include <cstring>
#include <string>

#include "pjrt/mock/error.h"
#include "pjrt/mock/event.h"
#include "pjrt/mock/strided_copy.h"
#include "pjrt/traced_call.h"

namespace framedex::mock {
namespace {

int64_t element_bytes(PJRT_Buffer_Type type) { return pjrt::element_bits(type) / 8; }

PJRT_Error* deleted_buffer(const char* function) {
  return make_error(PJRT_Error_Code_FAILED_PRECONDITION, std::string(function) + " of a buffer that was deleted.");
}

PJRT_Error* exhausted(const Memory& memory, int64_t bytes) {
  MemoryStatistics statistics = memory.pool->statistics();
  return make_error(PJRT_Error_Code_RESOURCE_EXHAUSTED,
                    "Out of memory allocating " + std::to_string(bytes) + " bytes in " + memory.text + ": " +
                        std::to_string(statistics.in_use) + " of " + std::to_string(statistics.limit) +
                        " bytes are in use, the largest free block has " +
                        std::to_string(statistics.largest_free_block) + " (the limit is framedex run --hbm BYTES).");
}

PJRT_Error* create(PJRT_Buffer_Type type, std::vector<int64_t> dims, Memory* memory, PJRT_Buffer** buffer) {
  int64_t bytes = pjrt::dense_bytes(type, dims.data(), dims.size());
  std::shared_ptr<char> data = memory->allocate(bytes);
  if (data == nullptr) return exhausted(*memory, bytes);
  *buffer = new PJRT_Buffer(type, std::move(dims), memory, std::move(data));
  return nullptr;
}

PJRT_Error* from_host(PJRT_Client_BufferFromHostBuffer_Args* args) {
  std::vector<int64_t> dims(args->dims, args->dims + args->num_dims);
  PJRT_Buffer* buffer = nullptr;
  Memory* memory = memory_of(args->device, args->memory);
  if (PJRT_Error* error = create(args->type, dims, memory, &buffer)) return error;
  int64_t size = element_bytes(args->type);
  Strides dense = row_major(dims, size);
  bool has_strides = args->num_byte_strides == dims.size() && args->byte_strides != nullptr;
  Strides source = has_strides ? Strides(args->byte_strides, args->byte_strides + dims.size()) : dense;
  strided_copy(buffer->data().get(), dense, static_cast<const char*>(args->data), source, dims, size);
  // The copy is complete, so the host buffer is the caller's again whatever semantics it asked for.
  args->done_with_host_buffer = ready_event();
  args->buffer = buffer;
  return nullptr;
}

PJRT_Error* to_host(PJRT_Buffer_ToHostBuffer_Args* args) {
  const PJRT_Buffer& buffer = *args->src;
  std::shared_ptr<char> data = buffer.data();
  if (data == nullptr) return deleted_buffer("PJRT_Buffer_ToHostBuffer");
  auto needed = static_cast<size_t>(buffer.bytes());
  if (args->dst == nullptr) {
    args->dst_size = needed;
    return nullptr;
  }
  if (args->dst_size < needed) {
    return make_error(PJRT_Error_Code_INVALID_ARGUMENT, "PJRT_Buffer_ToHostBuffer needs " + std::to_string(needed) +
                                                            " bytes, dst_size is " + std::to_string(args->dst_size) +
                                                            ".");
  }
  int64_t size = element_bytes(buffer.type);
  strided_copy(static_cast<char*>(args->dst), strides_of(args->host_layout, buffer.dims, size), data.get(),
               row_major(buffer.dims, size), buffer.dims, size);
  args->event = ready_event();
  return nullptr;
}

PJRT_Error* raw_to_host(PJRT_Buffer_CopyRawToHost_Args* args) {
  std::shared_ptr<char> data = args->buffer->data();
  if (data == nullptr) return deleted_buffer("PJRT_Buffer_CopyRawToHost");
  int64_t bytes = args->buffer->bytes();
  if (args->offset < 0 || args->transfer_size < 0 || args->offset > bytes - args->transfer_size) {
    return make_error(PJRT_Error_Code_INVALID_ARGUMENT,
                      "PJRT_Buffer_CopyRawToHost beyond the buffer's " + std::to_string(bytes) + " bytes.");
  }
  std::memcpy(args->dst, data.get() + args->offset, static_cast<size_t>(args->transfer_size));
  args->event = ready_event();
  return nullptr;
}

PJRT_Error* copy_to(const PJRT_Buffer& source, Memory* memory, PJRT_Buffer** target) {
  std::shared_ptr<char> data = source.data();
  if (data == nullptr) return deleted_buffer("Copy");
  if (PJRT_Error* error = create(source.type, source.dims, memory, target)) return error;
  std::memcpy((*target)->data().get(), data.get(), static_cast<size_t>(source.bytes()));
  return nullptr;
}

PJRT_Error* create_uninitialized(PJRT_Client_CreateUninitializedBuffer_Args* args) {
  std::vector<int64_t> dims(args->shape_dims, args->shape_dims + args->shape_num_dims);
  return create(args->shape_element_type, std::move(dims), memory_of(args->device, args->memory), &args->buffer);
}

PJRT_Error* memory_layout(PJRT_Buffer_GetMemoryLayout_Args* args) {
  // Row-major, from the slowest-changing dimension back: the same for every rank, so one list serves all.
  static const std::vector<int64_t> descending = [] {
    std::vector<int64_t> order;
    for (int64_t dimension = 63; dimension >= 0; --dimension) order.push_back(dimension);
    return order;
  }();
  size_t rank = args->buffer->dims.size();
  if (rank > descending.size()) {
    return make_error(PJRT_Error_Code_UNIMPLEMENTED, "PJRT_Buffer_GetMemoryLayout beyond 64 dimensions.");
  }
  args->layout.struct_size = PJRT_Buffer_MemoryLayout_STRUCT_SIZE;
  args->layout.type = PJRT_Buffer_MemoryLayout_Type_Tiled;
  args->layout.tiled = {};
  args->layout.tiled.struct_size = PJRT_Buffer_MemoryLayout_Tiled_STRUCT_SIZE;
  args->layout.tiled.minor_to_major = descending.data() + (descending.size() - rank);
  args->layout.tiled.minor_to_major_size = rank;
  return nullptr;
}

void add_buffer_properties(PJRT_Api& api) {
  api.PJRT_Buffer_ElementType = [](PJRT_Buffer_ElementType_Args* args) -> PJRT_Error* {
    args->type = args->buffer->type;
    return nullptr;
  };
  api.PJRT_Buffer_Dimensions = [](PJRT_Buffer_Dimensions_Args* args) -> PJRT_Error* {
    args->dims = args->buffer->dims.data();
    args->num_dims = args->buffer->dims.size();
    return nullptr;
  };
  api.PJRT_Buffer_UnpaddedDimensions = [](PJRT_Buffer_UnpaddedDimensions_Args* args) -> PJRT_Error* {
    args->unpadded_dims = args->buffer->dims.data();
    args->num_dims = args->buffer->dims.size();
    return nullptr;
  };
  api.PJRT_Buffer_DynamicDimensionIndices = [](PJRT_Buffer_DynamicDimensionIndices_Args* args) -> PJRT_Error* {
    args->dynamic_dim_indices = nullptr;
    args->num_dynamic_dims = 0;
    return nullptr;
  };
  api.PJRT_Buffer_GetMemoryLayout = memory_layout;
  api.PJRT_Buffer_OnDeviceSizeInBytes = [](PJRT_Buffer_OnDeviceSizeInBytes_Args* args) -> PJRT_Error* {
    args->on_device_size_in_bytes = static_cast<size_t>(args->buffer->bytes());
    return nullptr;
  };
  api.PJRT_Buffer_Device = [](PJRT_Buffer_Device_Args* args) -> PJRT_Error* {
    args->device = args->buffer->memory->device;
    return nullptr;
  };
  api.PJRT_Buffer_Memory = [](PJRT_Buffer_Memory_Args* args) -> PJRT_Error* {
    args->memory = args->buffer->memory;
    return nullptr;
  };
  api.PJRT_Buffer_IsOnCpu = [](PJRT_Buffer_IsOnCpu_Args* args) -> PJRT_Error* {
    args->is_on_cpu = false;
    return nullptr;
  };
}

}  // namespace

void add_buffer_functions(PJRT_Api& api) {
  add_buffer_properties(api);
  api.PJRT_Client_BufferFromHostBuffer = from_host;
  api.PJRT_Client_CreateUninitializedBuffer = create_uninitialized;
  api.PJRT_Buffer_ToHostBuffer = to_host;
  api.PJRT_Buffer_CopyRawToHost = raw_to_host;
  api.PJRT_Buffer_CopyToDevice = [](PJRT_Buffer_CopyToDevice_Args* args) {
    return copy_to(*args->buffer, memory_of(args->dst_device, nullptr), &args->dst_buffer);
  };
  api.PJRT_Buffer_CopyToMemory = [](PJRT_Buffer_CopyToMemory_Args* args) {
    return copy_to(*args->buffer, static_cast<Memory*>(args->dst_memory), &args->dst_buffer);
  };
  api.PJRT_Buffer_Destroy = [](PJRT_Buffer_Destroy_Args* args) -> PJRT_Error* {
    delete args->buffer;
    return nullptr;
  };
  api.PJRT_Buffer_Delete = [](PJRT_Buffer_Delete_Args* args) -> PJRT_Error* {
    args->buffer->remove();
    return nullptr;
  };
  api.PJRT_Buffer_IsDeleted = [](PJRT_Buffer_IsDeleted_Args* args) -> PJRT_Error* {
    args->is_deleted = args->buffer->data() == nullptr;
    return nullptr;
  };
  api.PJRT_Buffer_ReadyEvent = [](PJRT_Buffer_ReadyEvent_Args* args) -> PJRT_Error* {
    args->event = ready_event();
    return nullptr;
  };
  api.PJRT_Buffer_UnsafePointer = [](PJRT_Buffer_UnsafePointer_Args* args) -> PJRT_Error* {
    args->buffer_pointer = reinterpret_cast<uintptr_t>(args->buffer->data().get());
    return nullptr;
  };
  api.PJRT_Buffer_OpaqueDeviceMemoryDataPointer =
      [](PJRT_Buffer_OpaqueDeviceMemoryDataPointer_Args* args) -> PJRT_Error* {
    args->device_memory_ptr = args->buffer->data().get();
    return nullptr;
  };
  // The memory of a buffer with external references stays until the last of them is gone: the runtime keeps the
  // buffer alive for as long as it holds one.
  api.PJRT_Buffer_IncreaseExternalReferenceCount = [](PJRT_Buffer_IncreaseExternalReferenceCount_Args*) -> PJRT_Error* {
    return nullptr;
  };
  api.PJRT_Buffer_DecreaseExternalReferenceCount = [](PJRT_Buffer_DecreaseExternalReferenceCount_Args*) -> PJRT_Error* {
    return nullptr;
  };
}

}  // namespace framedex::mock

int64_t PJRT_Buffer::bytes() const { return framedex::pjrt::dense_bytes(type, dims.data(), dims.size()); }
