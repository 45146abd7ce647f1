// The calls of a capture in memory.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "call_stream/recorded_call.h"

namespace framedex::call_stream {

// Calls in the order of their starts, a member for each of RecordedCall's; values in the form of format version 2.
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

}  // namespace framedex::call_stream
