// Threads that wait for programs to end. There is always one that is free: a program that waits for another, through a
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

  // Runs `task` on a thread that may enter Python. When closed: at once, on the caller's, unless that is one of these.
  void run(std::function<void()> task);
  // The same, but only while open. Returns whether it is.
  bool run_if_open(std::function<void()> task);
  // Waits for what is running, and for what that starts, without the GIL, and ends the threads: Python is about to go.
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
