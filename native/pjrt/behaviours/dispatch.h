// Dispatches a watched call to the Python function that runs its behaviours.
#pragma once

#include <cstdint>

#include "pjrt/behaviours/watched_call.h"
#include "pjrt/mock/base/python.h"

namespace framedex::behaviours {

// Sets the callable `dispatch(function: int, call: int) -> None`; `call` is the WatchedCall's address. Needs the GIL.
void set_dispatcher(mock::python::Object* callable);
// Returns whether a dispatcher is set, in this process, and its interpreter can be entered.
bool can_dispatch();
// Marks a thread that is about to run behaviours, from before it requests the GIL. When Python exits, it ends threads
// that still wait for the GIL, so close() waits a while for them. False if there is no dispatcher (any more).
class DispatchEntry {
 public:
  DispatchEntry();
  ~DispatchEntry();
  DispatchEntry(const DispatchEntry&) = delete;
  DispatchEntry& operator=(const DispatchEntry&) = delete;
  explicit operator bool() const { return is_open_; }

 private:
  bool is_open_;
};
// Runs the dispatcher. Needs the GIL and a DispatchEntry. If the dispatcher raises, the call fails with that exception.
void dispatch(WatchedCall& call);
// Called before Python exits: stops threads from entering, and waits a while for those that have entered.
void close();

}  // namespace framedex::behaviours
