// State behind a lock that a forked child may use, too.
#pragma once

#include <pthread.h>

#include <mutex>
#include <new>

namespace framedex::pjrt {

// A value that one thread at a time uses. In a forked child it is empty: another thread may have held it at the fork.
// A static member of its function, because the handler of forks refers to it. Leaked: calls come after static
// destructors.
template <typename Value>
class ForkSafe {
 public:
  ForkSafe() : state_(new State) {
    state = state_;
    pthread_atfork(nullptr, nullptr, [] { new (state) State; });
  }

  template <typename Action>
  auto use(Action action) {
    std::lock_guard lock(state_->mutex);
    return action(state_->value);
  }

 private:
  struct State {
    std::mutex mutex;
    Value value;
  };
  static inline State* state = nullptr;
  State* state_;
};

}  // namespace framedex::pjrt
