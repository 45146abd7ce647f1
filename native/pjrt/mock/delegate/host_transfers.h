// Transfers between a running program and the host (PJRT's send and receive callbacks). The program calls an FFI
// handler on XLA's CPU (see rewriting.py), which finds the callbacks of the execution that it runs in.
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

// The executions of one program, and which run on the CPU uses whose callbacks.
//
// Nothing tells which execution a run belongs to, and nothing needs to: the callbacks of a program's executions differ
// only in what they have received so far, so a run takes the first that no other run has. But the caller drops an
// execution's callbacks when it is told of the end, while another execution's run may still use them, or may take them
// because its own are taken. So the end of an execution is told only after the ends of all that were under way beside
// it, and of those that began while its callbacks could still be taken.
class HostTransfers {
 public:
  // The transfers of the program with this key; null for one that is not loaded any more.
  static std::shared_ptr<HostTransfers> of(int64_t program);
  static std::shared_ptr<HostTransfers> create(int64_t program);
  ~HostTransfers();

  class Offer;
  // Offers the callbacks of an execution, by the CPU's device number, before the execution is started.
  std::shared_ptr<Offer> begin(std::map<int, HostCallbacks> callbacks);
  // Called when the execution has ended: `told` becomes ready, with `status`, once nobody uses its callbacks any more.
  void end(const std::shared_ptr<Offer>& offer, std::shared_ptr<EventState> told, Status status);

  // The callbacks for this run on this device; null if all are taken.
  const HostCallbacks* callbacks(int64_t run, int device);

 private:
  explicit HostTransfers(int64_t program) : program_(program) {}

  struct Ending;
  // Called with the lock held; the caller drops the result after the lock, since whoever drops the last reference tells
  // the end.
  std::vector<std::shared_ptr<Ending>> untold() const;

  const int64_t program_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<Offer>> under_way_;
  std::vector<std::weak_ptr<Ending>> untold_;
};

// The FFI handler.
XLA_FFI_Error* transfer_by_ffi(XLA_FFI_CallFrame* frame);

void add_copy_to_device_stream_functions(PJRT_Api& api);

}  // namespace framedex::mock

// What a receive callback writes to, and owns.
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
