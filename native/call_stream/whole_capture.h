// All calls of a capture in memory: what is asked of the stream of calls is tried on them.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "call_stream/call_columns.h"

namespace framedex::call_stream {

struct WholeCapture {
  std::vector<std::pair<std::string, std::vector<std::string>>> functions;  // name, names of the values
  CallColumns calls;
};

// Reads the capture in a folder; times count from `started_clock_ns`. Throws std::runtime_error where streams are left
// out, so that what was read here is not what capture_reader reads.
WholeCapture read_whole_capture(const std::string& folder, int64_t started_clock_ns);

}  // namespace framedex::call_stream
