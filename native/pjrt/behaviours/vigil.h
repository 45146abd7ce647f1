// Reports behaviours that hang.
#pragma once

#include "pjrt/behaviours/watched_call.h"

namespace framedex::behaviours {

// Marks the time during which behaviours of `call` run on this thread. After FRAMEDEX_BEHAVIOUR_PATIENCE seconds
// (default: 10) it prints a warning on stderr, with the Python stacks of all threads. Time that the runtime takes for
// the behaviour does not count.
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
