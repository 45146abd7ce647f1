// Threads that wait for programs to end. One thread is always free. So if a program waits for another program, for
// example through a callback, the end of the other is still noticed at once.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace framedex::mock {

class ExecutionThreads {
 public:
  // Returns the process's threads; a forked child gets new ones.
  static ExecutionThreads& instance();

  // Runs `task` on a thread that may enter Python. After close() it runs `task` on the calling thread, unless the
  // caller is one of these threads.
  void run(std::function<void()> task);
  // Like run(), but only before close(). Returns whether it ran the task.
  bool run_if_open(std::function<void()> task);
  // Called before Python ends. Waits, without the GIL, for all tasks and those that they start, and ends the threads.
  void close();

 private:
  bool give(std::function<void()>& task);
  void work();

  std::mutex mutex_;
  std::condition_variable has_work_;
  std::deque<std::function<void()>> tasks_;
  std::vector<std::thread> threads_;
  size_t free_ = 0;  // idle threads minus waiting tasks
  bool is_closed_ = false;
};

}  // namespace framedex::mock
