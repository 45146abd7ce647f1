#include "pjrt/behaviours/own_thread.h"

#include <pthread.h>
#include <signal.h>

#include <thread>
#include <utility>

namespace framedex::behaviours {

void start_own_thread(std::function<void()> work) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);  // the new thread inherits the mask
  std::thread(std::move(work)).detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace framedex::behaviours
