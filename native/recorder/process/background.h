// The recorder's own thread. It opens all files and does slow work, so that recorded threads need not wait.
#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>

namespace framedex::recorder {

// The thread has its own table of file descriptors, so the recorder works even if the program has none left. (Before
// Linux 5.9 it shares the program's.) Its work takes neither the loader's lock nor the GIL: a thread that waits for it
// may hold both.
class BackgroundThread {
 public:
  using Work = std::function<void()>;

  // Returns the process's thread. The first caller starts it. It is never destroyed, because calls at exit may need it.
  // Throws std::runtime_error with a message for the user if no thread can be started.
  static BackgroundThread& instance();
  // Called in the child after a fork, which does not copy the thread.
  static void forget_in_child();

  // Queues the work and returns at once.
  void post(Work work);
  // Does the work and returns when it is done. Returns false, with errno set, in a child created without fork handlers
  // (by clone, for example): it has no such thread.
  bool perform(const Work& work);

 private:
  BackgroundThread();
  bool is_of_this_process() const;
  void run();

  pid_t process_;
  std::mutex mutex_;
  std::condition_variable has_work_;
  std::condition_variable has_performed_;
  std::deque<Work> urgent_;  // a caller waits for it
  std::deque<Work> later_;
};

}  // namespace framedex::recorder
