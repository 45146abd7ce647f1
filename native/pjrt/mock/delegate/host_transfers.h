// Transfers between a running program and the host (PJRT's send and receive callbacks). The program calls an FFI
// handler on XLA's CPU backend (see rewriting.py), which finds the callbacks of its execution.
#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "pjrt/mock/base/event.h"
#include "pjrt_c_api.h"

namespace framedex::mock {

// The callbacks of one execution on one device, by channel.
struct HostCallbacks {
  std::map<int64_t, PJRT_SendCallbackInfo> sends;
  std::map<int64_t, PJRT_RecvCallbackInfo> receives;
};

// The executions of one program. Assigns each run on the CPU the callbacks of one execution.
//
// A run does not tell its execution, and need not: callbacks of a program's executions differ only in the data received
// so far. So a run takes the first free callbacks. But the caller drops an execution's callbacks when the execution
// ends, while another run may still use or take them. So the end of an execution is reported only after the ends of two
// groups of executions: those that overlapped it, and those that began while its callbacks were free.
class HostTransfers {
 public:
  // Returns the transfers of the program with this key; null if it is no longer loaded.
  static std::shared_ptr<HostTransfers> find(int64_t program);
  static std::shared_ptr<HostTransfers> create(int64_t program);
  ~HostTransfers();

  class PendingTransfer;
  // Registers the callbacks of an execution, by CPU device number, before the execution starts.
  std::shared_ptr<PendingTransfer> begin(std::map<int, HostCallbacks> callbacks);
  // Ends the execution. `end_reported` becomes ready, with `status`, once no run uses the callbacks of the execution.
  void end(const std::shared_ptr<PendingTransfer>& transfer, std::shared_ptr<EventState> end_reported, Status status);

  // Returns the callbacks for this run on this device; null if all callbacks are in use.
  const HostCallbacks* callbacks(int64_t run, int device);

 private:
  explicit HostTransfers(int64_t program) : program_(program) {}

  struct TransferEnd;
  // Returns the ends that are not reported yet. Call with the lock held, and drop the result after releasing the lock:
  // dropping the last reference reports an end.
  std::vector<std::shared_ptr<TransferEnd>> pending_ends() const;

  const int64_t program_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<PendingTransfer>> running_;
  std::vector<std::weak_ptr<TransferEnd>> pending_ends_;
};

// The FFI handler.
XLA_FFI_Error* transfer_by_ffi(XLA_FFI_CallFrame* frame);

void add_copy_to_device_stream_functions(PJRT_Api& api);

}  // namespace framedex::mock

// The stream that a receive callback writes to, and owns.
struct PJRT_CopyToDeviceStream {
  struct State {
    size_t total = 0;  // bytes
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<char> received;
    bool is_closed = false;
  };
  const std::shared_ptr<State> state;
};
