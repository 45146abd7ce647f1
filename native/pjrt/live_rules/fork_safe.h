// State that is protected by a lock, and that a forked child may use too.
#pragma once

#include <pthread.h>

#include <mutex>
#include <new>

namespace framedex::pjrt {

// A value for one thread at a time. In a forked child it starts empty, because another thread may have been using it at
// the fork. One instance of each type, because the fork handler finds it through a static member. Leaked: calls come
// after static destructors.
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
