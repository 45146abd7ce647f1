#include "pjrt/mock/buffers/shared_buffers.h"

#include <string>

#include "pjrt/mock/arrays/element_packing.h"
#include "pjrt/mock/base/error.h"
#include "pjrt/mock/buffers/buffer.h"

namespace framedex::mock {
namespace {

PJRT_Error* view_of_memory(PJRT_Client_CreateViewOfDeviceBuffer_Args* args) {
  if (args->stream != 0) {
    return make_error(PJRT_Error_Code_UNIMPLEMENTED,
                      "PJRT_Client_CreateViewOfDeviceBuffer: framedex's mock TPU has no streams to wait for.");
  }
  std::vector<int64_t> dims(args->dims, args->dims + args->num_dims);
  Layout layout = layout_of(args->layout, dims.size());
  auto shape = std::make_shared<Shape>(args->element_type, std::move(dims), std::move(layout));
  std::shared_ptr<char> bytes(static_cast<char*>(args->device_buffer_ptr),
                              [done = args->on_delete_callback, argument = args->on_delete_callback_arg](char* memory) {
                                if (done != nullptr) done(memory, argument);
                              });
  auto storage = std::make_shared<Storage>(std::move(bytes), ready_state());
  args->buffer = new PJRT_Buffer(std::move(shape), memory_of(args->device, args->memory), std::move(storage));
  return nullptr;
}

PJRT_Error* bitcast(PJRT_Buffer_Bitcast_Args* args) {
  std::shared_ptr<Storage> source = args->buffer->storage();
  if (source == nullptr) return make_deleted_buffer_error("PJRT_Buffer_Bitcast");
  const Shape& from = *args->buffer->shape;
  std::vector<int64_t> dims(args->dims, args->dims + args->num_dims);
  Layout layout = layout_of(args->device_layout, dims.size());
  auto to = std::make_shared<Shape>(args->element_type, std::move(dims), std::move(layout));
  if (packed_bits(from.type) != packed_bits(to->type)) {
    return make_error(PJRT_Error_Code_UNIMPLEMENTED,
                      "PJRT_Buffer_Bitcast: framedex's mock TPU keeps elements of less than a byte one to a byte, and "
                      "does not reinterpret them as elements of another size.");
  }
  if (from.bytes != to->bytes) {
    return make_error(PJRT_Error_Code_INVALID_ARGUMENT, "PJRT_Buffer_Bitcast of a buffer of " +
                                                            std::to_string(from.bytes) + " bytes to one of " +
                                                            std::to_string(to->bytes) + ".");
  }
  AwaitedMemory cast(std::move(to));
  cast.share(source);
  args->out_buffer = new PJRT_Buffer(cast.shape, args->buffer->memory, cast.storage);
  return nullptr;
}

// A buffer that receives another's memory once the caller's condition is met.
struct DependentBuffer {
  AwaitedMemory awaited;
  std::shared_ptr<Storage> source;
};

PJRT_Error* donate_with_dependency(PJRT_Buffer_DonateWithControlDependency_Args* args) {
  std::shared_ptr<Storage> source = args->buffer->remove();
  if (source == nullptr) return make_deleted_buffer_error("PJRT_Buffer_DonateWithControlDependency");
  auto* dependent = new DependentBuffer{AwaitedMemory(args->buffer->shape), std::move(source)};
  args->out_buffer = new PJRT_Buffer(args->buffer->shape, args->buffer->memory, dependent->awaited.storage);
  args->callback_data = dependent;
  args->dependency_ready_callback = [](PJRT_Buffer_DonateWithControlDependency_Callback_Args* met) {
    std::unique_ptr<DependentBuffer> own(static_cast<DependentBuffer*>(met->callback_data));
    if (met->error_code == PJRT_Error_Code_OK) return own->awaited.share(own->source);
    own->awaited.ready->set({met->error_code, std::string(met->error_message, met->error_message_size)});
  };
  return nullptr;
}

}  // namespace

void AwaitedMemory::share(const std::shared_ptr<Storage>& source) const {
  auto shared = when_readable(
      source, [source, storage = storage, shape = shape](Storage&) { return storage->share(source, *shape); });
  shared->on_ready([ready = ready](const Status& status) { ready->set(status); });
}

void add_shared_buffer_functions(PJRT_Api& api) {
  api.PJRT_Client_CreateViewOfDeviceBuffer = view_of_memory;
  api.PJRT_Buffer_Bitcast = bitcast;
  api.PJRT_Buffer_DonateWithControlDependency = donate_with_dependency;
}

}  // namespace framedex::mock
