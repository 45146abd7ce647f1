// All calls of a capture in memory: what is asked of the stream of calls is tried on them.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "call_stream/recorded_call.h"

namespace framedex::call_stream {

// Calls in the order of their starts, a member for each of RecordedCall's.
class CallColumns {
 public:
  size_t size() const { return calls_.size(); }
  void add(const RecordedCall& call, std::string_view values, std::string_view results);
  // The call of a row, whose values stay where they are until the next one is added. Throws std::out_of_range.
  RecordedCall at(size_t row) const;
  // To be called once all are there: which calls are the last of their threads, and which enclose others.
  void finish();

 private:
  struct Extent {
    size_t begin;
    size_t size;
  };
  std::vector<RecordedCall> calls_;
  std::vector<Extent> values_;
  std::vector<Extent> results_;
  std::string bytes_;
};

struct WholeCapture {
  std::vector<std::pair<std::string, std::vector<std::string>>> functions;  // name, names of the values
  CallColumns calls;
};

// Reads the capture in a folder; times count from `started_clock_ns`. Throws std::runtime_error where streams are left
// out, so that what was read here is not what capture_reader reads.
WholeCapture read_whole_capture(const std::string& folder, int64_t started_clock_ns);

}  // namespace framedex::call_stream
