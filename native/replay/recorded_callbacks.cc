#include "replay/recorded_callbacks.h"

namespace framedex::replay {
namespace {

void destroy(const PJRT_Api& api, PJRT_Error* error) {
  if (error == nullptr) return;
  PJRT_Error_Destroy_Args args{PJRT_Error_Destroy_Args_STRUCT_SIZE, nullptr, error};
  api.PJRT_Error_Destroy(&args);
}

}  // namespace

RecordedCallbacks::RecordedCallbacks(const PJRT_Api& api, const Operation& operation,
                                     const std::vector<std::string>& answers)
    : api_(api) {
  for (size_t device = 0; device < operation.devices; ++device) {
    auto& sends = sends_.emplace_back();
    for (int64_t channel : operation.send_channels) sends.push_back({channel, this, discard});
    auto& receives = receives_.emplace_back();
    for (int64_t id : operation.receive_channels) {
      Channel& channel = channels_.emplace_back(Channel{this, {}});
      for (size_t i = 0; i < answers.size(); ++i) {
        const CallbackResult& recorded = operation.callback_results[i];
        if (recorded.device == device && recorded.channel == id) channel.answers.push_back(answers[i]);
      }
      receives.push_back({id, &channel, answer});
    }
  }
}

void RecordedCallbacks::attach(PJRT_ExecuteOptions& options) {
  if (sends_.empty()) return;
  for (auto& row : sends_) send_rows_.push_back(row.data());
  for (auto& row : receives_) receive_rows_.push_back(row.data());
  options.send_callbacks = send_rows_.data();
  options.recv_callbacks = receive_rows_.data();
  options.num_send_ops = sends_.front().size();
  options.num_recv_ops = receives_.front().size();
  options.use_major_to_minor_data_layout_for_callbacks = true;
}

PJRT_Error* RecordedCallbacks::discard(PJRT_Chunk* chunk, PJRT_CallbackError*, size_t, bool, void*) {
  chunk->deleter(chunk->data, chunk->deleter_arg);
  return nullptr;
}

void RecordedCallbacks::answer(PJRT_CopyToDeviceStream* stream, void* user) {
  auto* channel = static_cast<Channel*>(user);
  RecordedCallbacks& owner = *channel->owner;
  const PJRT_Api& api = owner.api_;
  auto content = std::make_unique<std::string>(owner.take(*channel, stream));
  PJRT_Chunk chunk{content->data(), content->size(), [](void*, void* held) { delete static_cast<std::string*>(held); },
                   content.release()};
  PJRT_CopyToDeviceStream_AddChunk_Args args{};
  args.struct_size = PJRT_CopyToDeviceStream_AddChunk_Args_STRUCT_SIZE;
  args.stream = stream;
  args.chunk = &chunk;
  PJRT_Error* error = api.PJRT_CopyToDeviceStream_AddChunk(&args);
  destroy(api, error);
  if (args.transfer_complete != nullptr) {
    PJRT_Event_Destroy_Args event{PJRT_Event_Destroy_Args_STRUCT_SIZE, nullptr, args.transfer_complete};
    destroy(api, api.PJRT_Event_Destroy(&event));
  }
  PJRT_CopyToDeviceStream_Destroy_Args end{PJRT_CopyToDeviceStream_Destroy_Args_STRUCT_SIZE, nullptr, stream};
  destroy(api, api.PJRT_CopyToDeviceStream_Destroy(&end));
}

std::string RecordedCallbacks::take(Channel& channel, PJRT_CopyToDeviceStream* stream) {
  std::lock_guard lock(mutex_);
  PJRT_CopyToDeviceStream_TotalBytes_Args args{PJRT_CopyToDeviceStream_TotalBytes_Args_STRUCT_SIZE, nullptr, stream, 0};
  destroy(api_, api_.PJRT_CopyToDeviceStream_TotalBytes(&args));
  size_t size = args.total_bytes > 0 ? static_cast<size_t>(args.total_bytes) : 0;
  if (!channel.answers.empty() && channel.answers.front().size() == size) {
    std::string content = std::move(channel.answers.front());
    channel.answers.pop_front();
    return content;
  }
  has_missed_ = true;
  return std::string(size, '\0');
}

}  // namespace framedex::replay
