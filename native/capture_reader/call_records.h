// Decodes call records of every format version.
#pragma once

#include <cstdint>

#include "capture_reader/segment_walker.h"

namespace framedex::capture {

// `sequence` numbers the calls of the thread, `time` is on the stream's clock, `stack` is an id in the stream.
struct CallStart {
  uint64_t sequence;
  uint64_t time;
  uint32_t function;
  uint32_t stack;
  Body values{{}};
};

struct CallEnd {
  uint64_t sequence;
  uint64_t time;
  int32_t error;
  Body values{{}};
};

// Decode a call or return record; false if it is damaged. The values are views of the record's bytes.
bool read_start(const Record& record, CallStart* start);
bool read_end(const Record& record, CallEnd* end);

}  // namespace framedex::capture
