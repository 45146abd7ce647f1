// Says on stderr which handler was running when the process dies of a signal.
#pragma once

#include "ffi/instances.h"

namespace framedex::ffi {

// Writes one line about the handler that this thread is running, if it is. Safe in the handler of a signal.
void report_crash(int signal);

// The innermost handler that runs on a thread, for as long as it runs.
class RunningScope {
 public:
  RunningScope(const Registration& registration, XLA_FFI_ExecutionStage stage, const Instance* instance);
  ~RunningScope();
  RunningScope(const RunningScope&) = delete;
  RunningScope& operator=(const RunningScope&) = delete;

 private:
  friend void report_crash(int signal);
  const Registration& registration_;
  XLA_FFI_ExecutionStage stage_;
  const Instance* instance_;
  const RunningScope* outer_;
};

// Reports fatal signals in handlers from now on, before whoever handled such signals until now gets them.
void install_crash_report();

}  // namespace framedex::ffi
