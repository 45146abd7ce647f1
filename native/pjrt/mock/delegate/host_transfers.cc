#include "pjrt/mock/delegate/host_transfers.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "pjrt/mock/arrays/element_packing.h"
#include "pjrt/mock/base/error.h"
#include "pjrt/traced_call.h"

namespace framedex::mock {

// The callbacks of an execution, which runs can use.
class HostTransfers::PendingTransfer {
 public:
  // Whether some of its callbacks are still free.
  bool has_free_callbacks() const { return runs.size() < callbacks.size(); }

  std::map<int, HostCallbacks> callbacks;
  std::map<int, int64_t> runs;  // device -> the run that uses the callbacks
  std::vector<std::shared_ptr<TransferEnd>> held_back;
};

// The end of an execution, held back while other executions may use its callbacks.
struct HostTransfers::TransferEnd {
  std::shared_ptr<PendingTransfer> transfer;
  std::shared_ptr<EventState> end_reported;
  Status status;
  ~TransferEnd() { end_reported->set(status); }
};

namespace {

std::mutex programs_mutex;

std::map<int64_t, std::weak_ptr<HostTransfers>>& programs() {
  static auto* const all = new std::map<int64_t, std::weak_ptr<HostTransfers>>;
  return *all;
}

// ---- The FFI side.

XLA_FFI_Error* failure(const XLA_FFI_CallFrame* frame, const std::string& message) {
  XLA_FFI_Error_Create_Args args{};
  args.struct_size = XLA_FFI_Error_Create_Args_STRUCT_SIZE;
  args.message = message.c_str();
  args.errc = XLA_FFI_Error_Code_INTERNAL;
  return frame->api->XLA_FFI_Error_Create(&args);
}

bool answer_metadata(XLA_FFI_CallFrame* frame) {
  XLA_FFI_Extension_Base* extension = frame->extension_start;
  if (extension == nullptr || extension->type != XLA_FFI_Extension_Metadata) return false;
  XLA_FFI_Metadata* metadata = reinterpret_cast<XLA_FFI_Metadata_Extension*>(extension)->metadata;
  // Only features of the first version are used. (Before jaxlib 0.9 the query has no table.)
  metadata->api_version.major_version = 0;
  metadata->api_version.minor_version = frame->api != nullptr ? frame->api->api_version.minor_version : 1;
  metadata->traits = 0;
  return true;
}

// Returns an attribute of the call, 0 if it has none of that name.
int64_t integer_attribute(const XLA_FFI_CallFrame* frame, std::string_view name) {
  for (int64_t i = 0; i < frame->attrs.size; ++i) {
    const XLA_FFI_ByteSpan* attribute = frame->attrs.names[i];
    if (std::string_view(attribute->ptr, attribute->len) == name) {
      return *static_cast<int64_t*>(static_cast<XLA_FFI_Scalar*>(frame->attrs.attrs[i])->value);
    }
  }
  return 0;
}

int device_of(const XLA_FFI_CallFrame* frame) {
  XLA_FFI_DeviceOrdinal_Get_Args args{};
  args.struct_size = XLA_FFI_DeviceOrdinal_Get_Args_STRUCT_SIZE;
  args.ctx = frame->ctx;
  if (!pjrt::has(frame->api, &XLA_FFI_Api::XLA_FFI_DeviceOrdinal_Get)) return 0;
  return frame->api->XLA_FFI_DeviceOrdinal_Get(&args) == nullptr ? args.device_ordinal : 0;
}

int64_t run_of(const XLA_FFI_CallFrame* frame) {
  XLA_FFI_RunId_Get_Args args{};
  args.struct_size = XLA_FFI_RunId_Get_Args_STRUCT_SIZE;
  args.ctx = frame->ctx;
  if (!pjrt::has(frame->api, &XLA_FFI_Api::XLA_FFI_RunId_Get)) return 0;
  return frame->api->XLA_FFI_RunId_Get(&args) == nullptr ? args.run_id : 0;
}

// Returns the last buffer that is not a token. The last send of a callback carries the operands of the earlier sends
// first.
XLA_FFI_Buffer* data_buffer(void** buffers, int64_t count) {
  for (int64_t i = count - 1; i >= 0; --i) {
    auto* buffer = static_cast<XLA_FFI_Buffer*>(buffers[i]);
    if (buffer->dtype != XLA_FFI_DataType_TOKEN) return buffer;
  }
  return nullptr;
}

// XLA and PJRT number the types differently but use the same names.
PJRT_Buffer_Type buffer_type(XLA_FFI_DataType type) {
  const char* wanted = pjrt::enumerator(type);
  for (int candidate = 0; wanted != nullptr; ++candidate) {
    const char* name = pjrt::enumerator(static_cast<PJRT_Buffer_Type>(candidate));
    if (name == nullptr) break;
    if (std::strcmp(name, wanted) == 0) return static_cast<PJRT_Buffer_Type>(candidate);
  }
  return PJRT_Buffer_Type_INVALID;
}

PJRT_Error* make_callback_error(PJRT_Error_Code code, const char* message, size_t size) {
  return make_error(code, std::string(message, size));
}

XLA_FFI_Error* send(XLA_FFI_CallFrame* frame, const XLA_FFI_Buffer& buffer, const PJRT_SendCallbackInfo& callback) {
  PJRT_Buffer_Type type = buffer_type(buffer.dtype);
  int64_t size = pjrt::dense_bytes(type, buffer.dims, static_cast<size_t>(buffer.rank));
  auto* data = static_cast<char*>(std::malloc(static_cast<size_t>(std::max<int64_t>(size, 1))));
  if (int bits = packed_bits(type); bits != 0) {
    unpack(static_cast<const char*>(buffer.data), bits, data, size);
  } else {
    std::memcpy(data, buffer.data, static_cast<size_t>(size));
  }
  PJRT_Chunk chunk{data, static_cast<size_t>(size), [](void* sent, void*) { std::free(sent); }, nullptr};
  PJRT_CallbackError make = make_callback_error;
  PJRT_Error* error = callback.send_callback(&chunk, &make, chunk.size, true, callback.user_arg);
  if (error == nullptr) return nullptr;
  Status status = take_status(error);
  return failure(frame, status.message);
}

XLA_FFI_Error* receive(XLA_FFI_CallFrame* frame, const XLA_FFI_Buffer& buffer, const PJRT_RecvCallbackInfo& callback) {
  PJRT_Buffer_Type type = buffer_type(buffer.dtype);
  int64_t size = pjrt::dense_bytes(type, buffer.dims, static_cast<size_t>(buffer.rank));
  auto stream = std::make_shared<PJRT_CopyToDeviceStream::State>();
  stream->total = static_cast<size_t>(size);
  callback.recv_callback(new PJRT_CopyToDeviceStream{stream}, callback.user_arg);
  std::unique_lock lock(stream->mutex);
  stream->changed.wait(lock, [&] { return stream->received.size() >= stream->total || stream->is_closed; });
  if (stream->received.size() < stream->total) {
    return failure(frame, "The host callback ended without sending its result.");
  }
  if (int bits = packed_bits(type); bits != 0) {
    pack(stream->received.data(), bits, static_cast<char*>(buffer.data), size);
  } else {
    std::memcpy(buffer.data, stream->received.data(), static_cast<size_t>(size));
  }
  return nullptr;
}

}  // namespace

std::shared_ptr<HostTransfers> HostTransfers::find(int64_t program) {
  std::lock_guard lock(programs_mutex);
  auto found = programs().find(program);
  return found == programs().end() ? nullptr : found->second.lock();
}

std::shared_ptr<HostTransfers> HostTransfers::create(int64_t program) {
  std::shared_ptr<HostTransfers> transfers(new HostTransfers(program));
  std::lock_guard lock(programs_mutex);
  programs()[program] = transfers;
  return transfers;
}

HostTransfers::~HostTransfers() {
  std::lock_guard lock(programs_mutex);
  programs().erase(program_);
}

std::shared_ptr<HostTransfers::PendingTransfer> HostTransfers::begin(std::map<int, HostCallbacks> callbacks) {
  auto transfer = std::make_shared<PendingTransfer>();
  transfer->callbacks = std::move(callbacks);
  std::vector<std::shared_ptr<TransferEnd>> endings;
  std::lock_guard lock(mutex_);
  endings = pending_ends();
  for (const auto& ending : endings) {
    if (ending->transfer->has_free_callbacks()) transfer->held_back.push_back(ending);
  }
  running_.push_back(transfer);
  return transfer;
}

void HostTransfers::end(const std::shared_ptr<PendingTransfer>& transfer, std::shared_ptr<EventState> end_reported,
                        Status status) {
  std::shared_ptr<TransferEnd> ending(new TransferEnd{transfer, std::move(end_reported), std::move(status)});
  std::vector<std::shared_ptr<TransferEnd>> released;
  std::lock_guard lock(mutex_);
  running_.erase(std::remove(running_.begin(), running_.end(), transfer), running_.end());
  for (const auto& other : running_) other->held_back.push_back(ending);
  released.swap(transfer->held_back);
  pending_ends_.erase(
      std::remove_if(pending_ends_.begin(), pending_ends_.end(), [](const auto& other) { return other.expired(); }),
      pending_ends_.end());
  if (!running_.empty()) pending_ends_.push_back(ending);
}

std::vector<std::shared_ptr<HostTransfers::TransferEnd>> HostTransfers::pending_ends() const {
  std::vector<std::shared_ptr<TransferEnd>> endings;
  for (const auto& pending_ends : pending_ends_) {
    if (std::shared_ptr<TransferEnd> ending = pending_ends.lock()) endings.push_back(std::move(ending));
  }
  return endings;
}

const HostCallbacks* HostTransfers::callbacks(int64_t run, int device) {
  std::vector<std::shared_ptr<TransferEnd>> endings;
  std::lock_guard lock(mutex_);
  endings = pending_ends();
  // Use the callbacks of ended executions first, so that their ends are reported without waiting for other executions.
  std::vector<PendingTransfer*> known;
  for (const auto& ending : endings) known.push_back(ending->transfer.get());
  for (const auto& transfer : running_) known.push_back(transfer.get());
  PendingTransfer* free = nullptr;
  for (PendingTransfer* transfer : known) {
    auto used = transfer->runs.find(device);
    if (used != transfer->runs.end() && used->second == run) return &transfer->callbacks.at(device);
    bool is_free = used == transfer->runs.end() && transfer->callbacks.count(device) != 0;
    if (is_free && free == nullptr) free = transfer;
  }
  if (free == nullptr) return nullptr;
  free->runs[device] = run;
  return &free->callbacks.at(device);
}

XLA_FFI_Error* transfer_by_ffi(XLA_FFI_CallFrame* frame) {
  if (answer_metadata(frame)) return nullptr;
  int64_t channel = integer_attribute(frame, "channel");
  bool is_send = integer_attribute(frame, "is_send") != 0;
  std::shared_ptr<HostTransfers> transfers = HostTransfers::find(integer_attribute(frame, "program"));
  const HostCallbacks* callbacks =
      transfers != nullptr ? transfers->callbacks(run_of(frame), device_of(frame)) : nullptr;
  if (callbacks == nullptr) return failure(frame, "A program transfers to the host, but has no known execution.");
  const XLA_FFI_Buffer* buffer =
      is_send ? data_buffer(frame->args.args, frame->args.size) : data_buffer(frame->rets.rets, frame->rets.size);
  if (buffer == nullptr) return failure(frame, "A transfer without data.");
  if (is_send) {
    auto callback = callbacks->sends.find(channel);
    if (callback != callbacks->sends.end()) return send(frame, *buffer, callback->second);
  } else {
    auto callback = callbacks->receives.find(channel);
    if (callback != callbacks->receives.end()) return receive(frame, *buffer, callback->second);
  }
  return failure(frame, "The execution has no callback for channel " + std::to_string(channel) + ".");
}

void add_copy_to_device_stream_functions(PJRT_Api& api) {
  api.PJRT_CopyToDeviceStream_Destroy = [](PJRT_CopyToDeviceStream_Destroy_Args* args) -> PJRT_Error* {
    if (args->stream == nullptr) return nullptr;
    {
      std::lock_guard lock(args->stream->state->mutex);
      args->stream->state->is_closed = true;
    }
    args->stream->state->changed.notify_all();
    delete args->stream;
    return nullptr;
  };
  api.PJRT_CopyToDeviceStream_AddChunk = [](PJRT_CopyToDeviceStream_AddChunk_Args* args) -> PJRT_Error* {
    PJRT_CopyToDeviceStream::State& state = *args->stream->state;
    PJRT_Chunk& chunk = *args->chunk;
    bool fits = false;
    {
      std::lock_guard lock(state.mutex);
      fits = chunk.size <= state.total - state.received.size();
      const char* data = static_cast<const char*>(chunk.data);
      if (fits) state.received.insert(state.received.end(), data, data + chunk.size);
    }
    chunk.deleter(chunk.data, chunk.deleter_arg);
    if (!fits) {
      return make_error(PJRT_Error_Code_INVALID_ARGUMENT, "PJRT_CopyToDeviceStream_AddChunk: more than the stream's " +
                                                              std::to_string(state.total) + " bytes.");
    }
    state.changed.notify_all();
    args->transfer_complete = ready_event();
    return nullptr;
  };
  api.PJRT_CopyToDeviceStream_TotalBytes = [](PJRT_CopyToDeviceStream_TotalBytes_Args* args) -> PJRT_Error* {
    args->total_bytes = static_cast<int64_t>(args->stream->state->total);
    return nullptr;
  };
  api.PJRT_CopyToDeviceStream_GranuleSize = [](PJRT_CopyToDeviceStream_GranuleSize_Args* args) -> PJRT_Error* {
    args->granule_size_in_bytes = 1;
    return nullptr;
  };
  api.PJRT_CopyToDeviceStream_CurrentBytes = [](PJRT_CopyToDeviceStream_CurrentBytes_Args* args) -> PJRT_Error* {
    std::lock_guard lock(args->stream->state->mutex);
    args->current_bytes = static_cast<int64_t>(args->stream->state->received.size());
    return nullptr;
  };
}

}  // namespace framedex::mock
