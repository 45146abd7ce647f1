// The native and Python stack of a fatal signal, as a text in the capture.
#pragma once

#include <signal.h>

#include <string>

#include "recorder/walks/python_runtime.h"

namespace framedex::recorder {

// Writes the file kCrashFile below `folder`, with the arguments of a signal handler: the signal, the stacks of this
// thread at the fault, and the memory map of the process. `explain` reads this text.
//
// Async-signal-safe: no heap, no locks of ours. It writes once per process. If the memory that it walks is damaged, the
// file ends early: the handler must first call leave_faulty_walk().
void write_crash_file(const std::string& folder, const PythonRuntime& python, int signal, const siginfo_t& info,
                      const void* context);

// Call at the start of a signal handler. If this thread faults in write_crash_file(), continues there.
void leave_faulty_walk();

}  // namespace framedex::recorder
