#include "pjrt/mock/delegate/execution_threads.h"

#include <pthread.h>
#include <signal.h>

#include <optional>
#include <system_error>
#include <utility>

#include "pjrt/mock/base/python.h"

namespace framedex::mock {
namespace {

ExecutionThreads* threads = nullptr;
thread_local bool is_execution_thread = false;

}  // namespace

ExecutionThreads& ExecutionThreads::instance() {
  static const bool is_made = [] {
    threads = new ExecutionThreads;
    // A forked child lacks the threads, and their lock may be held for ever. It gets new ones; the old ones are leaked.
    pthread_atfork(nullptr, nullptr, [] { threads = new ExecutionThreads; });
    return true;
  }();
  static_cast<void>(is_made);
  return *threads;
}

void ExecutionThreads::run(std::function<void()> task) {
  if (!give(task)) task();
}

bool ExecutionThreads::run_if_open(std::function<void()> task) { return give(task); }

bool ExecutionThreads::give(std::function<void()>& task) {
  std::lock_guard lock(mutex_);
  if (is_closed_ && !is_execution_thread) return false;
  if (free_ > 0 && !is_closed_) {
    --free_;
  } else {
    try {
      threads_.emplace_back([this] { work(); });
    } catch (const std::system_error&) {  // the system's limit is reached
      return false;
    }
  }
  tasks_.push_back(std::move(task));
  has_work_.notify_one();
  return true;
}

void ExecutionThreads::work() {
  is_execution_thread = true;
  // Signals are for the program's own threads.
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  // Stays entered for the thread's life, so that Python keeps the thread's state between tasks.
  std::optional<python::Gil> gil;
  std::optional<python::WithoutGil> without_gil;
  if (python::is_usable()) {
    gil.emplace();
    without_gil.emplace();
  }
  std::unique_lock lock(mutex_);
  while (true) {
    has_work_.wait(lock, [this] { return is_closed_ || !tasks_.empty(); });
    if (tasks_.empty()) break;
    std::function<void()> task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    task();
    task = nullptr;
    lock.lock();
    ++free_;
  }
  lock.unlock();
}

void ExecutionThreads::close() {
  python::WithoutGil without_gil;
  std::unique_lock lock(mutex_);
  is_closed_ = true;
  has_work_.notify_all();
  // Running tasks may start others.
  while (!threads_.empty()) {
    std::vector<std::thread> ending = std::exchange(threads_, {});
    lock.unlock();
    for (std::thread& thread : ending) thread.join();
    lock.lock();
  }
}

}  // namespace framedex::mock
