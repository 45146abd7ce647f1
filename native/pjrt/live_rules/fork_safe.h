// State behind a lock that a forked child may use, too.
#pragma once

#include <pthread.h>

#include <mutex>
#include <new>

namespace framedex::pjrt {

// A value that one thread at a time uses. In a forked child it is empty: another thread may have held it at the fork.
// At most one of each type: the handler of forks refers to it by a static member. Leaked: calls come after static
// destructors.
template <typename Value>
class ForkSafe {
 public:
  ForkSafe() {
    state = new State;
    pthread_atfork(nullptr, nullptr, [] { new (state) State; });
  }

  template <typename Action>
  auto use(Action action) {
    std::lock_guard lock(state->mutex);
    return action(state->value);
  }

 private:
  struct State {
    std::mutex mutex;
    Value value;
  };
  static inline State* state = nullptr;
};

}  // namespace framedex::pjrt
