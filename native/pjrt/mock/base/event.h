// PJRT_Event: something that becomes ready once, with or without an error.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "pjrt/mock/base/error.h"
#include "pjrt_c_api.h"

namespace framedex::mock {

// Shared by the handles (PJRT_Event) and by whoever makes it ready. Once it is, no question to it takes a lock.
class EventState {
 public:
  void set(Status status);
  bool is_ready() const { return ready_.load(std::memory_order_acquire); }
  // Ready, and without error.
  bool has_succeeded() const;
  // Without error as long as it is not ready.
  Status status() const { return is_ready() ? status_ : Status{}; }
  // Lets go of the GIL: what makes it ready may need it.
  Status wait();
  // Runs `action` when the event is ready, at once if it already is. No lock is held meanwhile.
  void on_ready(std::function<void(const Status&)> action);

 private:
  std::mutex mutex_;
  std::condition_variable became_ready_;
  std::atomic<bool> ready_{false};
  Status status_;  // written before `ready_` is set and never again, so what is ready is read without the lock
  std::vector<std::function<void(const Status&)>> actions_;
};

// The state of an event that is ready, without error.
const std::shared_ptr<EventState>& ready_state();
// A handle to that state, always the same one.
PJRT_Event* ready_event();
// A handle to an event: ready_event() if it has become ready without error.
PJRT_Event* event_of(const std::shared_ptr<EventState>& state);

void add_event_functions(PJRT_Api& api);

}  // namespace framedex::mock

struct PJRT_Event {
  std::shared_ptr<framedex::mock::EventState> state;
};
