// Signal handlers that one of our own handlers replaced.
#pragma once

#include <csignal>

namespace framedex::recorder {

inline bool is_default(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler == SIG_DFL;
}

inline bool is_ignored(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler == SIG_IGN;
}

// Forwards a fatal signal to its previous action, from within the handler that replaced it. An action that is not a
// function is restored: a fault recurs when the handler returns, and a sent signal is sent again, so the same signal
// ends the process. Async-signal-safe.
inline void forward_fatal_signal(const struct sigaction& before, int number, siginfo_t* info, void* context) {
  if (is_default(before) || is_ignored(before)) {
    sigaction(number, &before, nullptr);
    bool was_sent = info->si_code <= 0;
    if (was_sent) raise(number);
  } else if ((before.sa_flags & SA_SIGINFO) != 0) {
    before.sa_sigaction(number, info, context);
  } else {
    before.sa_handler(number);
  }
}

}  // namespace framedex::recorder
