// From a watched call to the Python function that runs its behaviours.
#pragma once

#include <cstdint>

#include "pjrt/behaviours/watched_call.h"
#include "pjrt/mock/base/python.h"

namespace framedex::behaviours {

// A callable `dispatch(function: int, call: int) -> None`, the call by its address. With the GIL.
void set_dispatcher(mock::python::Object* callable);
// Whether there is one, in an interpreter that can be entered, in the process that it was made in.
bool can_dispatch();
// A thread on its way to behaviours, from before it asks for the GIL: Python, which would end a thread that still waits
// for it, waits a while for those. False where there is nothing to dispatch to, or no longer.
class Entrance {
 public:
  Entrance();
  ~Entrance();
  Entrance(const Entrance&) = delete;
  Entrance& operator=(const Entrance&) = delete;
  explicit operator bool() const { return is_open_; }

 private:
  bool is_open_;
};
// Runs it, with the GIL and an entrance. What it raises is how the call fails.
void dispatch(WatchedCall& call);
// Python is about to end: runs none from now on, and waits a while for those that entered.
void close();

}  // namespace framedex::behaviours
