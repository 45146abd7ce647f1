// The recorder's own thread: for what the recorded threads should not wait for, and for all that opens files.
#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>

namespace framedex::recorder {

// The thread has a table of file descriptors of its own (Linux 5.9 and later; before, it shares the program's), so that
// no file of the recorder ever takes one of the program's, of which there may be none left. Its work takes neither the
// loader's lock nor the interpreter's: a thread that waits for it may hold both.
class BackgroundThread {
 public:
  using Work = std::function<void()>;

  // The process's thread, started by the first caller and never destroyed, since calls at exit may need it. Throws
  // std::runtime_error with a message for the user if no thread can be started.
  static BackgroundThread& instance();
  // Called in the child after a fork, which does not copy the thread.
  static void forget_in_child();

  // Does the work some time later.
  void post(Work work);
  // Does the work and returns when it is done. False, with errno set, in a child that was made without its fork
  // handlers (by clone, for example), which has no such thread.
  bool perform(const Work& work);

 private:
  BackgroundThread();
  bool is_of_this_process() const;
  void run();

  pid_t process_;
  std::mutex mutex_;
  std::condition_variable has_work_;
  std::condition_variable has_performed_;
  std::deque<Work> urgent_;  // somebody waits for it
  std::deque<Work> later_;
};

}  // namespace framedex::recorder
