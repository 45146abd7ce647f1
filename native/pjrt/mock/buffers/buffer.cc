#include "pjrt/mock/buffers/buffer.h"

#include <cstring>
#include <string>

#include "pjrt/behaviours/wrapping.h"
#include "pjrt/mock/arrays/strided_copy.h"
#include "pjrt/mock/base/error.h"
#include "pjrt/mock/base/event.h"
#include "pjrt/traced_call.h"

namespace framedex::mock {
namespace {

PJRT_Error* make_exhausted_error(const Memory& memory, int64_t bytes) {
  if (const char* reason = behaviours::refusal_reason()) return make_error(PJRT_Error_Code_RESOURCE_EXHAUSTED, reason);
  MemoryStatistics statistics = memory.pool->statistics();
  return make_error(PJRT_Error_Code_RESOURCE_EXHAUSTED,
                    "Out of memory allocating " + std::to_string(bytes) + " bytes in " + memory.text + ": " +
                        std::to_string(statistics.in_use) + " of " + std::to_string(statistics.limit) +
                        " bytes are in use, the largest free block has " +
                        std::to_string(statistics.largest_free_block) + " (the limit is framedex run --hbm BYTES).");
}

int64_t element_bytes(PJRT_Buffer_Type type) { return pjrt::element_bits(type) / 8; }

// Creates a buffer in the mock's own memory that is ready when `ready` is.
PJRT_Error* create(std::shared_ptr<const Shape> shape, Memory* memory, std::shared_ptr<EventState> ready,
                   PJRT_Buffer** buffer) {
  std::shared_ptr<char> bytes;
  if (PJRT_Error* error = allocate(*memory, shape->bytes, &bytes)) return error;
  auto storage = std::make_shared<Storage>(std::move(bytes), std::move(ready));
  *buffer = new PJRT_Buffer(std::move(shape), memory, std::move(storage));
  return nullptr;
}

// Returns INVALID_ARGUMENT for an impossible shape, which a newer or faulty client may pass.
PJRT_Error* check_shape(PJRT_Buffer_Type type, const std::vector<int64_t>& dims) {
  if (type <= PJRT_Buffer_Type_INVALID || type > PJRT_Buffer_Type_F6E3M2FN) {
    return make_error(PJRT_Error_Code_INVALID_ARGUMENT, "Unknown element type " + std::to_string(type) + ".");
  }
  for (int64_t size : dims) {
    if (size < 0)
      return make_error(PJRT_Error_Code_INVALID_ARGUMENT, "Dimension " + std::to_string(size) + " is negative.");
  }
  return nullptr;
}

PJRT_Error* from_host(PJRT_Client_BufferFromHostBuffer_Args* args) {
  std::vector<int64_t> dims(args->dims, args->dims + args->num_dims);
  if (PJRT_Error* error = check_shape(args->type, dims)) return error;
  auto shape = std::make_shared<Shape>(args->type, dims, layout_of(args->device_layout, args->num_dims));
  PJRT_Buffer* buffer = nullptr;
  Memory* memory = memory_of(args->device, args->memory);
  if (PJRT_Error* error = create(shape, memory, ready_state(), &buffer)) return error;
  int64_t size = element_bytes(args->type);
  Strides dense = make_row_major(dims, size);
  bool has_strides = args->num_byte_strides == dims.size() && args->byte_strides != nullptr;
  Strides source = has_strides ? Strides(args->byte_strides, args->byte_strides + dims.size()) : dense;
  copy_strided(buffer->storage()->own_bytes(), dense, static_cast<const char*>(args->data), source, dims, size);
  // The copy is complete, so the host buffer is free again under any host buffer semantics.
  args->done_with_host_buffer = ready_event();
  args->buffer = buffer;
  return nullptr;
}

PJRT_Error* to_host(PJRT_Buffer_ToHostBuffer_Args* args) {
  std::shared_ptr<const Shape> shape = args->src->shape;
  std::shared_ptr<Storage> storage = args->src->storage();
  if (storage == nullptr) return make_deleted_buffer_error("PJRT_Buffer_ToHostBuffer");
  auto needed = static_cast<size_t>(shape->bytes);
  if (args->dst == nullptr) {
    args->dst_size = needed;
    return nullptr;
  }
  if (args->dst_size < needed) {
    return make_error(PJRT_Error_Code_INVALID_ARGUMENT, "PJRT_Buffer_ToHostBuffer needs " + std::to_string(needed) +
                                                            " bytes, dst_size is " + std::to_string(args->dst_size) +
                                                            ".");
  }
  int64_t size = element_bytes(shape->type);
  auto* target = static_cast<char*>(args->dst);
  Strides strides = strides_of(args->host_layout, shape->dims, size);
  auto copied = when_readable(std::move(storage), [shape, target, strides, size](Storage& source) {
    Strides dense = make_row_major(shape->dims, size);
    if (strides == dense) return source.read(*shape, target);
    std::vector<char> bytes(static_cast<size_t>(shape->bytes));
    Status status = source.read(*shape, bytes.data());
    if (status.is_ok()) copy_strided(target, strides, bytes.data(), dense, shape->dims, size);
    return status;
  });
  args->event = event_of(copied);
  return nullptr;
}

// A byte range of a buffer to be copied to the host.
struct RawCopy {
  std::shared_ptr<const Shape> shape;
  std::shared_ptr<Storage> storage;
  int64_t offset;
  int64_t size;

  std::shared_ptr<EventState> start(void* target) const {
    return when_readable(storage, [copy = *this, target](Storage& source) {
      std::vector<char> bytes(static_cast<size_t>(copy.shape->bytes));
      Status status = source.read(*copy.shape, bytes.data());
      if (status.is_ok()) std::memcpy(target, bytes.data() + copy.offset, static_cast<size_t>(copy.size));
      return status;
    });
  }
};

PJRT_Error* check_raw_copy(const RawCopy& copy, const char* function) {
  if (copy.storage == nullptr) return make_deleted_buffer_error(function);
  if (copy.offset >= 0 && copy.size >= 0 && copy.offset <= copy.shape->bytes - copy.size) return nullptr;
  return make_error(PJRT_Error_Code_INVALID_ARGUMENT,
                    std::string(function) + " beyond the buffer's " + std::to_string(copy.shape->bytes) + " bytes.");
}

PJRT_Error* raw_to_host(PJRT_Buffer_CopyRawToHost_Args* args) {
  RawCopy copy{args->buffer->shape, args->buffer->storage(), args->offset, args->transfer_size};
  if (PJRT_Error* error = check_raw_copy(copy, "PJRT_Buffer_CopyRawToHost")) return error;
  args->event = event_of(copy.start(args->dst));
  return nullptr;
}

// A copy to the host whose destination the caller provides later, or never.
struct AwaitedCopy {
  RawCopy copy;
  std::shared_ptr<EventState> done;

  void continue_copy(const PJRT_Buffer_CopyRawToHostFuture_Callback_Args& args) const {
    if (args.error_code != PJRT_Error_Code_OK) {
      return done->set({args.error_code, std::string(args.error_message, args.error_message_size)});
    }
    copy.start(args.dst)->on_ready([done = done](const Status& status) { done->set(status); });
  }
};

PJRT_Error* raw_to_host_later(PJRT_Buffer_CopyRawToHostFuture_Args* args) {
  RawCopy copy{args->buffer->shape, args->buffer->storage(), args->offset, args->transfer_size};
  if (PJRT_Error* error = check_raw_copy(copy, "PJRT_Buffer_CopyRawToHostFuture")) return error;
  ++copy.storage->pending_reads;
  auto* awaited = new AwaitedCopy{std::move(copy), std::make_shared<EventState>()};
  args->event = event_of(awaited->done);
  args->callback_data = awaited;
  args->future_ready_callback = [](PJRT_Buffer_CopyRawToHostFuture_Callback_Args* ready) {
    std::unique_ptr<AwaitedCopy> own(static_cast<AwaitedCopy*>(ready->callback_data));
    own->continue_copy(*ready);
    --own->copy.storage->pending_reads;
  };
  return nullptr;
}

PJRT_Error* copy_to(const PJRT_Buffer& source, Memory* memory, PJRT_Buffer** target) {
  std::shared_ptr<Storage> storage = source.storage();
  if (storage == nullptr) return make_deleted_buffer_error("Copy");
  auto ready = std::make_shared<EventState>();
  // A TPU's unpinned host memory supports only default layouts.
  bool keeps_layout = memory->kind != MemoryKind::kUnpinnedHost && source.memory->kind != MemoryKind::kUnpinnedHost;
  auto shape = keeps_layout ? source.shape : std::make_shared<const Shape>(source.shape->type, source.shape->dims);
  if (storage->is_zeros()) {
    Reservation reserved;
    if (PJRT_Error* error = reserve(*memory, shape->bytes, &reserved)) return error;
    *target = new PJRT_Buffer(std::move(shape), memory, storage->copy_zeros(std::move(reserved)));
    return nullptr;
  }
  if (PJRT_Error* error = create(std::move(shape), memory, ready, target)) return error;
  std::shared_ptr<Storage> copy = (*target)->storage();
  auto copied = when_readable(std::move(storage), [shape = source.shape, copy](Storage& original) {
    return original.read(*shape, copy->own_bytes());
  });
  copied->on_ready([ready](const Status& status) { ready->set(status); });
  return nullptr;
}

PJRT_Error* create_uninitialized(PJRT_Client_CreateUninitializedBuffer_Args* args) {
  std::vector<int64_t> dims(args->shape_dims, args->shape_dims + args->shape_num_dims);
  Layout layout = layout_of(args->shape_layout, dims.size());
  return create(std::make_shared<Shape>(args->shape_element_type, std::move(dims), std::move(layout)),
                memory_of(args->device, args->memory), ready_state(), &args->buffer);
}

// Returns the address of the buffer's bytes, once it is ready.
PJRT_Error* address_of(const PJRT_Buffer& buffer, char** address) {
  std::shared_ptr<Storage> storage = buffer.storage();
  if (storage == nullptr) return make_deleted_buffer_error("Address");
  Status status = buffer.ready->wait();
  if (status.is_ok()) *address = buffer.shape->bytes == 0 ? nullptr : storage->address(status);
  return status.to_error();
}

PJRT_Error* memory_layout(PJRT_Buffer_GetMemoryLayout_Args* args) {
  const Layout& layout = args->buffer->shape->layout;
  args->layout.struct_size = PJRT_Buffer_MemoryLayout_STRUCT_SIZE;
  args->layout.type = PJRT_Buffer_MemoryLayout_Type_Tiled;
  args->layout.tiled = {};
  args->layout.tiled.struct_size = PJRT_Buffer_MemoryLayout_Tiled_STRUCT_SIZE;
  args->layout.tiled.minor_to_major = layout.minor_to_major.data();
  args->layout.tiled.minor_to_major_size = layout.minor_to_major.size();
  args->layout.tiled.tile_dims = layout.tile_dims.data();
  args->layout.tiled.tile_dim_sizes = layout.tile_ranks.data();
  args->layout.tiled.num_tiles = layout.tile_ranks.size();
  return nullptr;
}

void add_buffer_properties(PJRT_Api& api) {
  api.PJRT_Buffer_ElementType = [](PJRT_Buffer_ElementType_Args* args) -> PJRT_Error* {
    args->type = args->buffer->shape->type;
    return nullptr;
  };
  api.PJRT_Buffer_Dimensions = [](PJRT_Buffer_Dimensions_Args* args) -> PJRT_Error* {
    args->dims = args->buffer->shape->dims.data();
    args->num_dims = args->buffer->shape->dims.size();
    return nullptr;
  };
  api.PJRT_Buffer_UnpaddedDimensions = [](PJRT_Buffer_UnpaddedDimensions_Args* args) -> PJRT_Error* {
    args->unpadded_dims = args->buffer->shape->dims.data();
    args->num_dims = args->buffer->shape->dims.size();
    return nullptr;
  };
  api.PJRT_Buffer_DynamicDimensionIndices = [](PJRT_Buffer_DynamicDimensionIndices_Args* args) -> PJRT_Error* {
    args->dynamic_dim_indices = nullptr;
    args->num_dynamic_dims = 0;
    return nullptr;
  };
  api.PJRT_Buffer_GetMemoryLayout = memory_layout;
  api.PJRT_Buffer_OnDeviceSizeInBytes = [](PJRT_Buffer_OnDeviceSizeInBytes_Args* args) -> PJRT_Error* {
    args->on_device_size_in_bytes = static_cast<size_t>(args->buffer->shape->bytes);
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

PJRT_Error* allocate(const Memory& memory, int64_t bytes, std::shared_ptr<char>* allocated) {
  *allocated = memory.allocate(bytes);
  if (*allocated == nullptr && behaviours::refusal_reason() == nullptr) {
    release_memory_of_dropped_arrays();  // they may hold the missing memory
    *allocated = memory.allocate(bytes);
  }
  return *allocated != nullptr ? nullptr : make_exhausted_error(memory, bytes);
}

PJRT_Error* reserve(const Memory& memory, int64_t bytes, Reservation* reserved) {
  std::optional<Reservation> found = memory.reserve(bytes);
  if (!found && behaviours::refusal_reason() == nullptr) {
    release_memory_of_dropped_arrays();
    found = memory.reserve(bytes);
  }
  if (!found) return make_exhausted_error(memory, bytes);
  *reserved = std::move(*found);
  return nullptr;
}

PJRT_Error* count_temporaries(const Memory& memory, int64_t bytes) {
  if (memory.pool->CountTemporaries(bytes)) return nullptr;
  release_memory_of_dropped_arrays();
  return memory.pool->CountTemporaries(bytes) ? nullptr : make_exhausted_error(memory, bytes);
}

PJRT_Error* make_deleted_buffer_error(const char* function) {
  return make_error(PJRT_Error_Code_FAILED_PRECONDITION, std::string(function) + " of a buffer that was deleted.");
}

std::shared_ptr<EventState> when_readable_later(std::shared_ptr<Storage> storage,
                                                std::function<Status(Storage&)> action) {
  auto done = std::make_shared<EventState>();
  ++storage->pending_reads;
  EventState& ready = *storage->ready();
  ready.on_ready([storage = std::move(storage), action = std::move(action), done](const Status& status) {
    Status ended = status.is_ok() ? action(*storage) : status;
    --storage->pending_reads;
    done->set(std::move(ended));
  });
  return done;
}

void add_buffer_functions(PJRT_Api& api) {
  add_buffer_properties(api);
  api.PJRT_Client_BufferFromHostBuffer = from_host;
  api.PJRT_Client_CreateUninitializedBuffer = create_uninitialized;
  api.PJRT_Buffer_ToHostBuffer = to_host;
  api.PJRT_Buffer_CopyRawToHost = raw_to_host;
  api.PJRT_Buffer_CopyRawToHostFuture = raw_to_host_later;
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
    args->is_deleted = args->buffer->is_deleted();
    return nullptr;
  };
  api.PJRT_Buffer_ReadyEvent = [](PJRT_Buffer_ReadyEvent_Args* args) -> PJRT_Error* {
    args->event = event_of(args->buffer->ready);
    return nullptr;
  };
  api.PJRT_Buffer_UnsafePointer = [](PJRT_Buffer_UnsafePointer_Args* args) {
    char* address = nullptr;
    PJRT_Error* error = address_of(*args->buffer, &address);
    args->buffer_pointer = reinterpret_cast<uintptr_t>(address);
    return error;
  };
  api.PJRT_Buffer_OpaqueDeviceMemoryDataPointer = [](PJRT_Buffer_OpaqueDeviceMemoryDataPointer_Args* args) {
    char* address = nullptr;
    PJRT_Error* error = address_of(*args->buffer, &address);
    args->device_memory_ptr = address;
    return error;
  };
  api.PJRT_Buffer_IncreaseExternalReferenceCount =
      [](PJRT_Buffer_IncreaseExternalReferenceCount_Args* args) -> PJRT_Error* {
    args->buffer->external_references.increment();
    return nullptr;
  };
  api.PJRT_Buffer_DecreaseExternalReferenceCount = [](PJRT_Buffer_DecreaseExternalReferenceCount_Args* args) {
    if (args->buffer->external_references.decrement()) return static_cast<PJRT_Error*>(nullptr);
    return make_error(PJRT_Error_Code_INVALID_ARGUMENT, "The buffer has no external reference.");
  };
}

}  // namespace framedex::mock
