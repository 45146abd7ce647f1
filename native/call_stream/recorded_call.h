// A call as the stream of a capture's calls gives it.
#pragma once

#include <cstdint>

#include "capture_reader/segment_walker.h"

namespace framedex::call_stream {

// `row` counts the calls of the capture, by start. Thread, function and stack are places in the capture's tables. Times
// are nanoseconds, `start` since the recording began.
struct RecordedCall {
  uint64_t row;
  uint32_t thread;
  uint32_t function;
  uint32_t stack;
  int64_t start;
  int64_t duration;           // -1: it has not returned
  int32_t error;              // -1: it has not returned
  uint64_t outermost;         // the row of the outermost call of its thread that encloses it; itself if none does
  bool is_last_of_thread;     // whether the thread made no other after it
  uint32_t kind;              // the number of its kind
  capture::Body values{{}};   // of its start, encoded (capture_reader/values.h)
  capture::Body results{{}};  // of its return: where both have a field, this one counts
};

}  // namespace framedex::call_stream
