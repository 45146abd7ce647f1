#include "pjrt/behaviours/helpers.h"

#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <memory>
#include <mutex>

#include "pjrt/behaviours/dispatch.h"
#include "pjrt/behaviours/own_thread.h"
#include "pjrt/behaviours/records.h"
#include "pjrt/behaviours/table.h"
#include "pjrt/behaviours/watched_call.h"
#include "pjrt/mock/base/python.h"

namespace framedex::behaviours {
namespace {

namespace python = mock::python;
using Work = std::shared_ptr<WatchedCall>;

// Keeps a free thread at all times: if all threads are busy, new work starts a thread.
class HelperThreads {
 public:
  void run(Work work) {
    std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(work));
    if (waiting_.size() > idle_) start_own_thread([this] { serve(); });
    changed_.notify_one();
  }

 private:
  void serve() {
    while (true) {
      Work work;
      {
        std::unique_lock lock(mutex_);
        ++idle_;
        changed_.wait(lock, [this] { return !waiting_.empty(); });
        --idle_;
        work = std::move(waiting_.front());
        waiting_.pop_front();
      }
      if (DispatchEntry entrance; entrance) {
        ProxyCallScope caller(work->caller_thread());
        python::Gil gil;
        if (work->start()) dispatch(*work);
      }
      work->finish();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Work> waiting_;
  size_t idle_ = 0;
};

HelperThreads& helpers() {
  static auto* const all = new HelperThreads;  // never destroyed: its threads wait in it until the process ends
  return *all;
}

constexpr char kLeftOut[] = "another thread held the GIL";
constexpr char kAbandoned[] = "it took longer than the caller could wait";

// Records that a behaviour did not complete. Prints a warning on stderr the first time.
void report(size_t function, const char* outcome, const char* message, const WatchedCall& call) {
  static std::atomic<bool> is_reported{false};
  auto [name, place] = call.running();
  record_trouble(name, place, function, outcome, message);
  if (is_reported.exchange(true)) return;
  std::fprintf(stderr, "framedex: a behaviour on %s was %s: %s. This call continued without it, as may later calls.\n",
               name_of(function), outcome, message);
}

}  // namespace

PJRT_Error* run_on_helper(size_t function, void* arguments, size_t size) {
  Work work = size > 0 ? std::make_shared<WatchedCall>(function, arguments, size, &call_default)
                       : std::make_shared<WatchedCall>(function, arguments, &call_default, false);
  helpers().run(work);
  switch (work->wait()) {
    case WatchedCall::WaitResult::kLeftOut:
      report(function, "left out", kLeftOut, *work);
      return call_default(function, arguments);
    case WatchedCall::WaitResult::kAbandoned:
      report(function, "abandoned", kAbandoned, *work);
      return work->take_default(arguments);
    case WatchedCall::WaitResult::kDone:
      break;
  }
  return work->settle(arguments);
}

}  // namespace framedex::behaviours
