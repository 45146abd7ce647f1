// Reports on stderr which handler was running when a signal kills the process.
#pragma once

#include "ffi/instances.h"

namespace framedex::ffi {

// Writes one line about the handler running on this thread, if any. Async-signal-safe.
void report_crash(int signal);

// Marks the innermost handler running on a thread during its lifetime.
class RunningHandlerScope {
 public:
  RunningHandlerScope(const Registration& registration, XLA_FFI_ExecutionStage stage, const Instance* instance);
  ~RunningHandlerScope();
  RunningHandlerScope(const RunningHandlerScope&) = delete;
  RunningHandlerScope& operator=(const RunningHandlerScope&) = delete;

 private:
  friend void report_crash(int signal);
  const Registration& registration_;
  XLA_FFI_ExecutionStage stage_;
  const Instance* instance_;
  const RunningHandlerScope* outer_;
};

// Installs signal handlers that report fatal signals in FFI handlers, and then run the previous signal handlers.
void install_crash_report();

}  // namespace framedex::ffi
