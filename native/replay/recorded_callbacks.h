// Host callbacks of an execution that discard the data from the program, and answer from the recording.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "pjrt_c_api.h"
#include "replay/plan.h"

namespace framedex::replay {

// Keep it as long as the client: the callbacks of a failed execution may run later.
class RecordedCallbacks {
 public:
  // `answers` has the bytes of the operation's answers.
  RecordedCallbacks(const PJRT_Api& api, const Operation& operation, const std::vector<std::string>& answers);
  RecordedCallbacks(const RecordedCallbacks&) = delete;
  RecordedCallbacks& operator=(const RecordedCallbacks&) = delete;

  void attach(PJRT_ExecuteOptions& options);
  // Whether the program requested more answers than were recorded, or one of another size. It then got zeros.
  bool has_missed() const { return has_missed_; }

 private:
  // The answers on a channel of a device that the program has not received yet.
  struct Channel {
    RecordedCallbacks* owner;
    std::deque<std::string> answers;
  };
  static PJRT_Error* discard(PJRT_Chunk* chunk, PJRT_CallbackError* make_error, size_t total, bool is_done, void* user);
  static void answer(PJRT_CopyToDeviceStream* stream, void* user);
  std::string take(Channel& channel, PJRT_CopyToDeviceStream* stream);

  const PJRT_Api& api_;
  std::mutex mutex_;
  std::atomic<bool> has_missed_{false};
  std::deque<Channel> channels_;
  // Of each device.
  std::vector<std::vector<PJRT_SendCallbackInfo>> sends_;
  std::vector<std::vector<PJRT_RecvCallbackInfo>> receives_;
  std::vector<PJRT_SendCallbackInfo*> send_rows_;
  std::vector<PJRT_RecvCallbackInfo*> receive_rows_;
};

}  // namespace framedex::replay
