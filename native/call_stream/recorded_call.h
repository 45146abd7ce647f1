// A call in the stream of a capture's calls.
#pragma once

#include <cstdint>

#include "capture_reader/segment_walker.h"

namespace framedex::call_stream {

// `row` numbers the calls of the capture by start. Thread, function and stack are indexes in the capture's tables.
// Times are in nanoseconds; `start` counts from the beginning of the recording.
struct RecordedCall {
  uint64_t row;
  uint32_t thread;
  uint32_t function;
  uint32_t stack;
  int64_t start;
  int64_t duration;           // -1: not returned
  int32_t error;              // -1: not returned
  uint64_t outermost;         // row of the thread's outermost enclosing call; its own if there is none
  bool is_last_of_thread;     // whether it is the thread's last call
  uint32_t kind;              // kind number
  capture::Body values{{}};   // at its start, encoded (capture_reader/values.h)
  capture::Body results{{}};  // at its return; override `values` of the same field
};

}  // namespace framedex::call_stream
