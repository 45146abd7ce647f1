// Watches over behaviours that do not end.
#pragma once

#include "pjrt/behaviours/watched_call.h"

namespace framedex::behaviours {

// While one is there, behaviours of `call` run on this thread. Once they have for longer than
// FRAMEDEX_BEHAVIOUR_PATIENCE seconds (default: 10) without the runtime at work for them, that is told on stderr, with
// the Python stacks of all threads.
class Vigil {
 public:
  explicit Vigil(const WatchedCall& call);
  ~Vigil();
  Vigil(const Vigil&) = delete;
  Vigil& operator=(const Vigil&) = delete;

 private:
  const WatchedCall* call_;
};

}  // namespace framedex::behaviours
