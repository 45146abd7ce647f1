// The calls of a capture in memory.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "call_stream/recorded_call.h"

namespace framedex::call_stream {

// Calls ordered by start, a column for each member of RecordedCall. Values are in the form of format version 2.
class CallColumns {
 public:
  size_t size() const { return calls_.size(); }
  void add(const RecordedCall& call, std::string_view values, std::string_view results);
  // Returns the call of a row. Its values stay valid until the next add. Throws std::out_of_range.
  RecordedCall at(size_t row) const;
  // Call once all calls are added: finds the last call of each thread, and enclosing calls.
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
