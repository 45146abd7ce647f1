// PJRT_Event: becomes ready once, with or without an error.
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

// Shared by the handles (PJRT_Event) and the code that makes it ready. Once it is ready, reading it takes no lock.
class EventState {
 public:
  void set(Status status);
  bool is_ready() const { return ready_.load(std::memory_order_acquire); }
  // Whether it is ready without an error.
  bool has_succeeded() const;
  // Returns the status of the event; success while it is not ready.
  Status status() const { return is_ready() ? status_ : Status{}; }
  // Waits until it is ready. Releases the GIL meanwhile, because the code that makes the event ready may need it.
  Status wait();
  // Runs `action` when the event is ready, at once if it already is, without holding a lock.
  void on_ready(std::function<void(const Status&)> action);

 private:
  std::mutex mutex_;
  std::condition_variable became_ready_;
  std::atomic<bool> ready_{false};
  Status status_;  // written once before `ready_` is set, so it is read without the lock once ready
  std::vector<std::function<void(const Status&)>> actions_;
};

// Returns the shared state of a ready event without an error.
const std::shared_ptr<EventState>& ready_state();
// Returns the shared handle to ready_state().
PJRT_Event* ready_event();
// Returns a handle to an event: ready_event() if it is already ready without an error.
PJRT_Event* event_of(const std::shared_ptr<EventState>& state);

void add_event_functions(PJRT_Api& api);

}  // namespace framedex::mock

struct PJRT_Event {
  std::shared_ptr<framedex::mock::EventState> state;
};
