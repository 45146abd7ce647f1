// The open calls of a capture's threads. The recorder keeps them in separate tables, so reading them takes milliseconds
// for a capture of any size, even while the process runs or hangs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "capture_reader/capture_reader.h"

namespace framedex::capture {

// `since` is in nanoseconds of CLOCK_MONOTONIC; `function` and `stack` are indexes in the capture. `object` is the
// address of a pending callback's event, else 0.
struct OpenCallRow {
  uint64_t sequence;
  int64_t since;
  uint32_t function;
  uint32_t stack;
  uint64_t object = 0;
};

// A thread with its open calls, outermost first.
struct ThreadOpenCalls {
  Thread thread;
  uint64_t calls = 0;       // made so far
  int64_t last_record = 0;  // time of the latest call or return; undefined without calls
  std::vector<OpenCallRow> open;
  uint64_t more = 0;                 // open calls beyond those
  uint64_t signal = 0;               // the latest fatal signal on the thread
  std::vector<OpenCallRow> pending;  // calls whose callbacks have not been invoked yet
};

struct CaptureOpenCalls {
  Capture capture;  // the definitions of these calls
  std::vector<ThreadOpenCalls> threads;
};

// The invocation of a callback on a thread (a number in file names), registered by a call of another or the same one.
struct Invocation {
  uint32_t thread;
  int64_t time;  // nanoseconds of CLOCK_MONOTONIC
  uint32_t registered_thread;
  uint64_t registered_sequence;
  int32_t error;
};

// Reads the tables of open calls, or all streams if the capture of an earlier recorder has no tables. Skips damaged
// parts.
CaptureOpenCalls read_open_calls(const std::string& folder);
// Reads the callbacks that were registered and not invoked, in order of their calls.
std::vector<PendingCallback> read_pending_callbacks(const std::string& folder);
// Reads the invocations of callbacks, thread by thread.
std::vector<Invocation> read_invocations(const std::string& folder);

}  // namespace framedex::capture
