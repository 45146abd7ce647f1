// Why something is missing from a capture.
#pragma once

#include <cstdint>

#include "recorder/format/capture_format.h"

namespace framedex::capture {

// Over all streams of a capture.
struct Stops {
  uint32_t reasons = 0;        // StopReason bits
  uint64_t missing_calls = 0;  // that threads with a stream made and did not find room for
  uint64_t threads = 0;        // whose streams stop early
};

// What the headers of the process's and a thread's streams say of what is missing.
void add_process(const StreamHeader& header, Stops* stops);
void add_thread(const StreamHeader& definitions, const StreamHeader& calls, Stops* stops);

}  // namespace framedex::capture
