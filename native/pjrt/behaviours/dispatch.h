// Dispatches a watched call to the Python function that runs its behaviours.
#pragma once

#include <cstdint>

#include "pjrt/behaviours/watched_call.h"
#include "pjrt/mock/base/python.h"

namespace framedex::behaviours {

// Sets the callable `dispatch(function: int, call: int) -> None`; `call` is the WatchedCall's address. With the GIL.
void set_dispatcher(mock::python::Object* callable);
// Returns whether a dispatcher is set, in this process, and its interpreter can be entered.
bool can_dispatch();
// Marks a thread that is about to run behaviours, from before it requests the GIL. Python ends threads that still wait
// for the GIL at its end, so close() waits a while for them. False if there is no dispatcher, or not any more.
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
// Runs the dispatcher, with the GIL and a DispatchEntry. If it raises, the call fails with that exception.
void dispatch(WatchedCall& call);
// Called before Python ends: lets no more threads enter, and waits a while for those that have entered.
void close();

}  // namespace framedex::behaviours
