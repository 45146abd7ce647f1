#include "pjrt/host_callbacks.h"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <tuple>
#include <unordered_map>

#include "recorder/kept_contents.h"

namespace framedex::pjrt {
namespace {

// A callback of the program that answers on a channel, and the execution that uses the callback.
struct AnsweringCallback {
  PJRT_RecvCallbackInfo original;
  int64_t device;
  int64_t execution;
};

// Leaked on purpose: callbacks run after static destructors. Addresses of callbacks and streams are reused, so the maps
// do not grow with the number of executions.
struct Answers {
  std::mutex mutex;
  std::map<std::tuple<PJRT_RecvCallback, void*, int64_t, int64_t>, std::unique_ptr<AnsweringCallback>> callbacks;
  std::unordered_map<const PJRT_CopyToDeviceStream*, std::array<int64_t, 4>> streams;
  int64_t executions = 0;
  int64_t count = 0;

  static Answers& instance() {
    static auto* answers = [] {
      // Another thread may hold the lock at a fork. The callbacks belong to the parent.
      pthread_atfork(nullptr, nullptr, [] { new (&instance()) Answers; });
      return new Answers;
    }();
    return *answers;
  }
};

void answer_and_note(PJRT_CopyToDeviceStream* stream, void* user) {
  auto* answering = static_cast<AnsweringCallback*>(user);
  PJRT_RecvCallbackInfo original;
  {
    Answers& answers = Answers::instance();
    std::lock_guard lock(answers.mutex);
    original = answering->original;
    answers.streams[stream] = {answering->execution, answering->device, original.channel_id, ++answers.count};
  }
  original.recv_callback(stream, original.user_arg);
}

bool has_answering_callbacks(const PJRT_LoadedExecutable_Execute_Args* args) {
  return args->options != nullptr && args->options->num_recv_ops != 0 && args->options->recv_callbacks != nullptr &&
         args->num_devices != 0;
}

}  // namespace

AnswerScope::AnswerScope(PJRT_LoadedExecutable_Execute_Args* args) {
  if (!has_answering_callbacks(args) || recorder::kept_contents() == recorder::Contents::kNone) return;
  args_ = args;
  original_ = args->options;
  Answers& answers = Answers::instance();
  std::lock_guard lock(answers.mutex);
  int64_t execution = ++answers.executions;
  rows_.reserve(args->num_devices);
  for (size_t device = 0; device < args->num_devices; ++device) {
    const PJRT_RecvCallbackInfo* callbacks = original_->recv_callbacks[device];
    auto& row = rows_.emplace_back(callbacks, callbacks + original_->num_recv_ops);
    for (PJRT_RecvCallbackInfo& callback : row) {
      auto device_index = static_cast<int64_t>(device);
      std::unique_ptr<AnsweringCallback>& answering =
          answers.callbacks[{callback.recv_callback, callback.user_arg, device_index, callback.channel_id}];
      if (answering == nullptr) answering = std::make_unique<AnsweringCallback>();
      *answering = {callback, device_index, execution};
      callback.recv_callback = answer_and_note;
      callback.user_arg = answering.get();
    }
    row_pointers_.push_back(row.data());
  }
  options_.resize(std::max(original_->struct_size, sizeof(PJRT_ExecuteOptions)));
  std::memcpy(options_.data(), original_, original_->struct_size);
  auto* options = reinterpret_cast<PJRT_ExecuteOptions*>(options_.data());
  options->recv_callbacks = row_pointers_.data();
  args->options = options;
}

AnswerScope::~AnswerScope() {
  if (args_ != nullptr) args_->options = original_;
}

void answered_execution(recorder::ArgumentWriter& writer, uint16_t field,
                        const PJRT_LoadedExecutable_Execute_Args* args) {
  if (!has_answering_callbacks(args) || args->options->recv_callbacks[0][0].recv_callback != answer_and_note) return;
  Answers& answers = Answers::instance();
  std::lock_guard lock(answers.mutex);
  writer.integer(field, static_cast<AnsweringCallback*>(args->options->recv_callbacks[0][0].user_arg)->execution);
}

void answer_of_stream(recorder::ArgumentWriter& writer, uint16_t field, const PJRT_CopyToDeviceStream* stream) {
  Answers& answers = Answers::instance();
  std::lock_guard lock(answers.mutex);
  auto found = answers.streams.find(stream);
  if (found != answers.streams.end()) writer.integers(field, found->second.data(), found->second.size());
}

}  // namespace framedex::pjrt
