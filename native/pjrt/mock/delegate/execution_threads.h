// Threads that wait for programs to end. One is always free, so that a program that waits for another, through a
// callback for example, never keeps the other's end from being noticed.
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
  // The process's own; a forked child has new ones.
  static ExecutionThreads& instance();

  // Runs `task` on a thread that may enter Python. After close() it runs at once on the calling thread, unless that is
  // one of these.
  void run(std::function<void()> task);
  // The same, but only while open. Returns whether it is.
  bool run_if_open(std::function<void()> task);
  // Waits, without the GIL, for all tasks and for those that they start, and ends the threads: Python is about to end.
  void close();

 private:
  bool give(std::function<void()>& task);
  void work();

  std::mutex mutex_;
  std::condition_variable has_work_;
  std::deque<std::function<void()>> tasks_;
  std::vector<std::thread> threads_;
  size_t free_ = 0;  // threads that wait for a task, less the tasks that wait for a thread
  bool is_closed_ = false;
};

}  // namespace framedex::mock
