#include "recorder/process/background.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <new>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>

#include "recorder/base/inside.h"

namespace framedex::recorder {
namespace {

std::atomic<BackgroundThread*> current{nullptr};
std::mutex creation;
thread_local bool is_background __attribute__((tls_model("initial-exec"))) = false;

// Threads inherit this mask: signals sent to the process must reach a thread of the program.
class AllSignalsBlocked {
 public:
  AllSignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~AllSignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

// Disables cancellation of a waiting thread: cancellation would unwind functions that must not be unwound.
class CancellationBlock {
 public:
  CancellationBlock() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~CancellationBlock() { pthread_setcancelstate(before_, nullptr); }

 private:
  int before_ = PTHREAD_CANCEL_ENABLE;
};

// Gives the calling thread an empty table of descriptors. A copy of the program's table would keep the end of a pipe
// open after the program closes it. (Before Linux 6.11 the call copies the first 64 descriptors before it closes them.)
void leave_descriptors_of_program() {
#ifndef SYS_close_range
  constexpr long SYS_close_range = 436;
#endif
  constexpr unsigned kUnshare = 2;  // CLOSE_RANGE_UNSHARE
  if (syscall(SYS_close_range, 0u, ~0u, kUnshare) != 0) return;
  // Messages of the C library on stderr must not end up in a capture.
  for (int taken = -1; taken < STDERR_FILENO;) {
    taken = open("/", O_PATH | O_CLOEXEC);
    if (taken < 0) return;
  }
}

}  // namespace

BackgroundThread& BackgroundThread::instance() {
  BackgroundThread* existing = current.load(std::memory_order_acquire);
  if (existing != nullptr) return *existing;
  std::lock_guard lock(creation);
  if (current.load() == nullptr) current.store(new BackgroundThread, std::memory_order_release);
  return *current.load();
}

void BackgroundThread::forget_in_child() {
  new (&creation) std::mutex;
  current.store(nullptr);
}

BackgroundThread::BackgroundThread() : process_(getpid()) {
  AllSignalsBlocked scope;
  try {
    std::thread thread([this] { run(); });
    pthread_setname_np(thread.native_handle(), "framedex");
    thread.detach();
  } catch (const std::system_error& error) {
    throw std::runtime_error(std::string("no thread can be started for it (") + error.code().message() +
                             "). Allow the process more threads (ulimit -u), or more memory.");
  }
}

bool BackgroundThread::is_of_this_process() const {
  if (getpid() == process_) return true;
  errno = ECHILD;
  return false;
}

void BackgroundThread::post(Work work) {
  if (!is_of_this_process()) return;
  {
    std::lock_guard lock(mutex_);
    later_.push_back(std::move(work));
  }
  has_work_.notify_one();
}

bool BackgroundThread::perform(const Work& work) {
  if (!is_of_this_process()) return false;
  if (is_background) {
    work();
    return true;
  }
  CancellationBlock scope;
  bool is_done = false;
  std::unique_lock lock(mutex_);
  urgent_.push_back([&] {
    work();
    std::lock_guard done_lock(mutex_);
    is_done = true;
    has_performed_.notify_all();
  });
  has_work_.notify_one();
  has_performed_.wait(lock, [&] { return is_done; });
  return true;
}

void BackgroundThread::run() {
  is_background = true;
  is_inside = true;
  leave_descriptors_of_program();
  for (;;) {
    Work work;
    {
      std::unique_lock lock(mutex_);
      has_work_.wait(lock, [this] { return !urgent_.empty() || !later_.empty(); });
      auto& queue = urgent_.empty() ? later_ : urgent_;
      work = std::move(queue.front());
      queue.pop_front();
    }
    work();
  }
}

}  // namespace framedex::recorder
