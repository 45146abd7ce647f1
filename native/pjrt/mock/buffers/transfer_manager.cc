#include "pjrt/mock/buffers/transfer_manager.h"

#include <cstring>
#include <string>

#include "pjrt/mock/arrays/strided_copy.h"
#include "pjrt/mock/base/error.h"
#include "pjrt/mock/buffers/buffer.h"
#include "pjrt/traced_call.h"

namespace framedex::mock {
namespace {

struct TransferTarget {
  std::shared_ptr<const Shape> shape;
  std::shared_ptr<EventState> ready;
  std::shared_ptr<Storage> storage;
  bool is_retrieved = false;
};

}  // namespace
}  // namespace framedex::mock

struct PJRT_AsyncHostToDeviceTransferManager {
  framedex::mock::Memory* memory;
  std::vector<framedex::mock::TransferTarget> targets;
};

namespace framedex::mock {
namespace {

PJRT_Error* invalid(const std::string& message) { return make_error(PJRT_Error_Code_INVALID_ARGUMENT, message); }

PJRT_Error* create_buffers(PJRT_Client_CreateBuffersForAsyncHostToDevice_Args* args) {
  auto* memory = static_cast<Memory*>(args->memory);
  auto manager = std::make_unique<PJRT_AsyncHostToDeviceTransferManager>();
  manager->memory = memory;
  for (size_t i = 0; i < args->num_shape_specs; ++i) {
    const PJRT_ShapeSpec& spec = args->shape_specs[i];
    std::vector<int64_t> dims(spec.dims, spec.dims + spec.num_dims);
    Layout layout = layout_of(i < args->num_device_layouts ? args->device_layouts[i] : nullptr, dims.size());
    TransferTarget target;
    target.shape = std::make_shared<Shape>(spec.element_type, std::move(dims), std::move(layout));
    target.ready = std::make_shared<EventState>();
    std::shared_ptr<char> bytes;
    if (PJRT_Error* error = allocate(*memory, target.shape->bytes, &bytes)) return error;
    target.storage = std::make_shared<Storage>(std::move(bytes), target.ready);
    manager->targets.push_back(std::move(target));
  }
  args->transfer_manager = manager.release();
  return nullptr;
}

// Returns the buffer that a call names; nullptr with the reason in `error`.
template <typename Args>
TransferTarget* target_of(const Args& args, PJRT_Error** error) {
  std::vector<TransferTarget>& targets = args.transfer_manager->targets;
  if (args.buffer_index >= 0 && static_cast<size_t>(args.buffer_index) < targets.size()) {
    return &targets[static_cast<size_t>(args.buffer_index)];
  }
  *error = invalid("no buffer " + std::to_string(args.buffer_index) + " in a transfer of " +
                   std::to_string(targets.size()) + " buffers");
  return nullptr;
}

PJRT_Error* check_open(const TransferTarget& target) {
  if (!target.ready->is_ready()) return nullptr;
  return make_error(PJRT_Error_Code_FAILED_PRECONDITION, "The transfer to this buffer has ended.");
}

PJRT_Error* transfer_data(PJRT_AsyncHostToDeviceTransferManager_TransferData_Args* args) {
  PJRT_Error* error = nullptr;
  TransferTarget* target = target_of(*args, &error);
  if (target != nullptr) error = check_open(*target);
  if (error != nullptr) return error;
  if (args->offset < 0 || args->transfer_size < 0 || args->offset > target->shape->bytes - args->transfer_size) {
    return invalid("A transfer beyond the buffer's " + std::to_string(target->shape->bytes) + " bytes.");
  }
  auto size = static_cast<size_t>(args->transfer_size);
  if (size > 0) std::memcpy(target->storage->own_bytes() + args->offset, args->data, size);
  if (args->is_last_transfer) target->ready->set({});
  args->done_with_h2d_transfer = ready_event();
  return nullptr;
}

PJRT_Error* transfer_literal(PJRT_AsyncHostToDeviceTransferManager_TransferLiteral_Args* args) {
  PJRT_Error* error = nullptr;
  TransferTarget* target = target_of(*args, &error);
  if (target != nullptr) error = check_open(*target);
  if (error != nullptr) return error;
  const Shape& shape = *target->shape;
  std::vector<int64_t> dims(args->shape_dims, args->shape_dims + args->shape_num_dims);
  if (args->shape_element_type != shape.type || dims != shape.dims) {
    return invalid("The literal's type or shape differs from the buffer's.");
  }
  int64_t size = pjrt::element_bits(shape.type) / 8;
  copy_strided(target->storage->own_bytes(), make_row_major(dims, size), static_cast<const char*>(args->data),
               strides_of(args->shape_layout, dims, size), dims, size);
  target->ready->set({});
  args->done_with_h2d_transfer = ready_event();
  return nullptr;
}

PJRT_Error* retrieve(PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer_Args* args) {
  PJRT_Error* error = nullptr;
  TransferTarget* target = target_of(*args, &error);
  if (target == nullptr) return error;
  if (target->is_retrieved) return invalid("The buffer was retrieved before.");
  target->is_retrieved = true;
  args->buffer_out = new PJRT_Buffer(target->shape, args->transfer_manager->memory, target->storage);
  return nullptr;
}

PJRT_Error* set_error(PJRT_AsyncHostToDeviceTransferManager_SetBufferError_Args* args) {
  PJRT_Error* error = nullptr;
  TransferTarget* target = target_of(*args, &error);
  if (target == nullptr) return error;
  target->ready->set({args->error_code, std::string(args->error_message, args->error_message_size)});
  return nullptr;
}

PJRT_Error* buffer_size(PJRT_AsyncHostToDeviceTransferManager_BufferSize_Args* args) {
  PJRT_Error* error = nullptr;
  TransferTarget* target = target_of(*args, &error);
  if (target != nullptr) args->buffer_size = static_cast<size_t>(target->shape->bytes);
  return error;
}

// Unfilled buffers fail: nothing can fill them any more.
PJRT_Error* destroy(PJRT_AsyncHostToDeviceTransferManager_Destroy_Args* args) {
  for (const TransferTarget& target : args->transfer_manager->targets) {
    target.ready->set({PJRT_Error_Code_ABORTED, "The transfer manager was destroyed before the buffer was filled."});
  }
  delete args->transfer_manager;
  return nullptr;
}

}  // namespace

void add_transfer_manager_functions(PJRT_Api& api) {
  api.PJRT_Client_CreateBuffersForAsyncHostToDevice = create_buffers;
  api.PJRT_AsyncHostToDeviceTransferManager_TransferData = transfer_data;
  api.PJRT_AsyncHostToDeviceTransferManager_TransferLiteral = transfer_literal;
  api.PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer = retrieve;
  api.PJRT_AsyncHostToDeviceTransferManager_SetBufferError = set_error;
  api.PJRT_AsyncHostToDeviceTransferManager_BufferSize = buffer_size;
  api.PJRT_AsyncHostToDeviceTransferManager_Destroy = destroy;
  api.PJRT_AsyncHostToDeviceTransferManager_BufferCount =
      [](PJRT_AsyncHostToDeviceTransferManager_BufferCount_Args* args) -> PJRT_Error* {
    args->buffer_count = args->transfer_manager->targets.size();
    return nullptr;
  };
  api.PJRT_AsyncHostToDeviceTransferManager_Device =
      [](PJRT_AsyncHostToDeviceTransferManager_Device_Args* args) -> PJRT_Error* {
    args->device_out = args->transfer_manager->memory->device;
    return nullptr;
  };
  // The metadata is only for a profiler's logs.
  api.PJRT_AsyncHostToDeviceTransferManager_AddMetadata =
      [](PJRT_AsyncHostToDeviceTransferManager_AddMetadata_Args*) -> PJRT_Error* { return nullptr; };
}

}  // namespace framedex::mock
