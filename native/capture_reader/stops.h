// The reasons why a capture is incomplete.
#pragma once

#include <cstdint>

#include "recorder/format/capture_format.h"

namespace framedex::capture {

// Totals over all streams of a capture.
struct Stops {
  uint32_t reasons = 0;        // StopReason bits
  uint64_t missing_calls = 0;  // calls that did not fit, of threads with a stream
  uint64_t queries = 0;        // calls that were only counted
  uint64_t threads = 0;        // threads whose streams stop early
};

// Add the stop reasons in the headers of the process's and a thread's streams.
void add_process(const StreamHeader& header, Stops* stops);
void add_thread(const StreamHeader& definitions, const StreamHeader& calls, Stops* stops);

}  // namespace framedex::capture
