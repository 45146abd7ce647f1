// Host callbacks of executions: their channels, and the answers that they send to a program. A recording that keeps
// contents connects each answer to its execution.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "pjrt_c_api.h"
#include "recorder/arguments.h"

namespace framedex::pjrt {

// Writes the channels of the first device's callbacks. All devices have the same channels.
template <typename Callback>
void channels(recorder::ArgumentWriter& writer, uint16_t field, Callback* const* callbacks, size_t devices,
              size_t count) {
  if (devices == 0 || callbacks == nullptr || callbacks[0] == nullptr) return;
  constexpr size_t kMost = recorder::ArgumentWriter::kMaximumElements + 1;  // the writer notes that one is left out
  int64_t ids[kMost];
  size_t known = count < kMost ? count : kMost;
  for (size_t i = 0; i < known; ++i) ids[i] = callbacks[0][i].channel_id;
  writer.integers(field, ids, known);
}

// Replaces the callbacks that answer a program during the lifetime of this object, if the recording keeps contents. The
// plug-in copies them in that time. Callbacks with the same `user_arg` belong to the latest execution.
class AnswerScope {
 public:
  explicit AnswerScope(PJRT_LoadedExecutable_Execute_Args* args);
  ~AnswerScope();
  AnswerScope(const AnswerScope&) = delete;
  AnswerScope& operator=(const AnswerScope&) = delete;

 private:
  PJRT_LoadedExecutable_Execute_Args* args_ = nullptr;
  PJRT_ExecuteOptions* original_ = nullptr;               // only read: several executions may share it
  std::vector<char> options_;                             // a copy with other callbacks
  std::vector<std::vector<PJRT_RecvCallbackInfo>> rows_;  // of each device
  std::vector<PJRT_RecvCallbackInfo*> row_pointers_;
};

// Writes the number that an AnswerScope gave to this execution.
void answered_execution(recorder::ArgumentWriter& writer, uint16_t field,
                        const PJRT_LoadedExecutable_Execute_Args* args);
// Writes the execution, device, channel and answer number of a chunk that is sent to a stream.
void answer_of_stream(recorder::ArgumentWriter& writer, uint16_t field, const PJRT_CopyToDeviceStream* stream);

}  // namespace framedex::pjrt
