// Reports behaviours that hang.
#pragma once

#include "pjrt/behaviours/watched_call.h"

namespace framedex::behaviours {

// Marks the time during which behaviours of `call` run on this thread. After FRAMEDEX_BEHAVIOUR_PATIENCE seconds
// (default: 10) it prints a warning on stderr, with the Python stacks of all threads. Time that the runtime takes for
// the behaviour does not count.
class SlowBehaviourWatch {
 public:
  explicit SlowBehaviourWatch(const WatchedCall& call);
  ~SlowBehaviourWatch();
  SlowBehaviourWatch(const SlowBehaviourWatch&) = delete;
  SlowBehaviourWatch& operator=(const SlowBehaviourWatch&) = delete;

 private:
  const WatchedCall* call_;
};

}  // namespace framedex::behaviours
