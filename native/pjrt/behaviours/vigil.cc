#include "pjrt/behaviours/vigil.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include "pjrt/behaviours/own_thread.h"
#include "pjrt/behaviours/records.h"
#include "pjrt/mock/base/python.h"

namespace framedex::behaviours {
namespace {

namespace python = mock::python;
using Clock = std::chrono::steady_clock;

std::chrono::duration<double> patience() {
  constexpr double kDefault = 10;
  const char* text = std::getenv("FRAMEDEX_BEHAVIOUR_PATIENCE");
  double seconds = text != nullptr ? std::atof(text) : 0;
  return std::chrono::duration<double>(seconds > 0 ? seconds : kDefault);
}

// Prints the Python stacks of all threads on stderr, even if the program has replaced `sys.stderr`. Waits for the GIL.
void print_stacks() {
  if (!python::is_usable()) return;
  python::Gil gil;
  python::Reference module = python::loaded_module("faulthandler");
  python::Reference dump = module ? python::attribute(module.get(), "dump_traceback") : python::Reference();
  python::Reference file = python::integer(STDERR_FILENO);
  if (!dump || !python::call(dump.get(), {file.get()})) python::take_error();
}

class SlowBehaviourMonitor {
 public:
  void begin(const WatchedCall* call) {
    std::lock_guard lock(mutex_);
    running_[call] = {Clock::now(), false};
    if (!is_started_) start_own_thread([this] { serve(); });
    is_started_ = true;
  }

  void end(const WatchedCall* call) {
    std::lock_guard lock(mutex_);
    running_.erase(call);
  }

 private:
  struct RunningBehaviour {
    Clock::time_point since;
    bool is_reported;
  };

  void serve() {
    const std::chrono::duration<double> limit = patience();
    while (true) {
      std::this_thread::sleep_for(limit / 4);
      if (report(limit)) print_stacks();
    }
  }

  bool report(std::chrono::duration<double> limit) {
    bool is_reported = false;
    std::lock_guard lock(mutex_);
    for (auto& [call, running] : running_) {
      if (call->is_in_default()) running.since = Clock::now();  // the runtime's time does not count as the behaviour's
      if (running.is_reported || Clock::now() - running.since < limit) continue;
      auto [name, place] = call->running();
      std::fprintf(stderr, "framedex: the behaviour %s (%s) on %s has not ended for %g s. The Python stacks now:\n",
                   name.c_str(), place.c_str(), name_of(call->function()), limit.count());
      record_trouble(name, place, call->function(), "hung", "the Python stacks are on stderr");
      running.is_reported = is_reported = true;
    }
    return is_reported;
  }

  std::mutex mutex_;
  std::map<const WatchedCall*, RunningBehaviour> running_;
  bool is_started_ = false;
};

SlowBehaviourMonitor& watch() {
  static auto* const all = new SlowBehaviourMonitor;  // never destroyed: its thread reads it until the process ends
  return *all;
}

}  // namespace

SlowBehaviourWatch::SlowBehaviourWatch(const WatchedCall& call) : call_(&call) { watch().begin(call_); }
SlowBehaviourWatch::~SlowBehaviourWatch() { watch().end(call_); }

}  // namespace framedex::behaviours
