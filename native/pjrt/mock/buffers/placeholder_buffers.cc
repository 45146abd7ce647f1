#include "pjrt/mock/buffers/placeholder_buffers.h"

#include <memory>
#include <string>

#include "pjrt/mock/base/error.h"
#include "pjrt/mock/buffers/buffer.h"
#include "pjrt/mock/buffers/shared_buffers.h"
#include "pjrt/traced_call.h"

// The handle with which the caller fulfils an alias buffer.
struct PJRT_FulfillAliasBufferCallback {
  framedex::mock::AwaitedMemory alias;
};

namespace framedex::mock {
namespace {

// Returns the shape in the arguments of either function that creates buffers.
template <typename Args>
std::shared_ptr<const Shape> shape_of(const Args& args) {
  std::vector<int64_t> dims(args.shape_dims, args.shape_dims + args.shape_num_dims);
  Layout layout = layout_of(args.shape_layout, dims.size());
  return std::make_shared<Shape>(args.shape_element_type, std::move(dims), std::move(layout));
}

PJRT_Error* invalid(const std::string& message) { return make_error(PJRT_Error_Code_INVALID_ARGUMENT, message); }

PJRT_Error* create_error_buffer(PJRT_Client_CreateErrorBuffer_Args* args) {
  using Args = PJRT_Client_CreateErrorBuffer_Args;
  Status status{args->error_code, std::string(args->error_message, args->error_message_size)};
  if (status.is_ok()) return invalid("PJRT_Client_CreateErrorBuffer without an error.");
  size_t payloads = pjrt::has(args, &Args::num_payload) ? args->num_payload : 0;
  for (size_t i = 0; i < payloads; ++i) {
    const PJRT_NamedValue& payload = args->payload[i];
    std::string name(payload.name, payload.name_size);
    if (payload.type != PJRT_NamedValue_kString) {
      return invalid("PJRT_Client_CreateErrorBuffer: the payload " + name + " is not a text.");
    }
    status.payloads.emplace_back(std::move(name), std::string(payload.string_value, payload.value_size));
  }
  AwaitedMemory error(shape_of(*args));
  error.ready->set(std::move(status));
  args->buffer = new PJRT_Buffer(error.shape, static_cast<Memory*>(args->memory), error.storage);
  return nullptr;
}

PJRT_Error* create_alias_buffer(PJRT_Client_CreateAliasBuffer_Args* args) {
  AwaitedMemory alias(shape_of(*args));
  args->alias_buffer = new PJRT_Buffer(alias.shape, static_cast<Memory*>(args->memory), alias.storage);
  args->fulfill_alias_buffer_cb = new PJRT_FulfillAliasBufferCallback{std::move(alias)};
  return nullptr;
}

PJRT_Error* fulfill_alias_buffer(PJRT_Client_FulfillAliasBuffer_Args* args) {
  if (args->fulfill_alias_buffer_cb == nullptr) return invalid("PJRT_Client_FulfillAliasBuffer without a callback.");
  std::unique_ptr<PJRT_FulfillAliasBufferCallback> own(args->fulfill_alias_buffer_cb);
  const AwaitedMemory& alias = own->alias;
  auto fail = [&](const Status& status) {
    alias.ready->set(status);
    return status.to_error();
  };
  if (args->status_code != PJRT_Error_Code_OK) {
    alias.ready->set({args->status_code, std::string(args->error_message, args->error_message_size)});
    return nullptr;
  }
  std::shared_ptr<Storage> source = args->buffer != nullptr ? args->buffer->storage() : nullptr;
  if (source == nullptr) {
    return fail({PJRT_Error_Code_INVALID_ARGUMENT, "PJRT_Client_FulfillAliasBuffer with a buffer without content."});
  }
  if (args->buffer->shape->type != alias.shape->type || args->buffer->shape->dims != alias.shape->dims) {
    return fail({PJRT_Error_Code_INVALID_ARGUMENT, "PJRT_Client_FulfillAliasBuffer with a buffer of another shape."});
  }
  alias.share(source);
  return nullptr;
}

}  // namespace

void add_placeholder_buffer_functions(PJRT_Api& api) {
  api.PJRT_Client_CreateErrorBuffer = create_error_buffer;
  api.PJRT_Client_CreateAliasBuffer = create_alias_buffer;
  api.PJRT_Client_FulfillAliasBuffer = fulfill_alias_buffer;
}

}  // namespace framedex::mock
