// Reads the calls of one thread with their returns.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "capture_reader/definitions.h"

namespace framedex::capture {

// Times are on the stream's clock; `function` and `stack` are indexes in the capture. The values are encoded.
struct ThreadCall {
  uint64_t sequence;
  uint64_t start;
  uint64_t end;
  uint32_t function;
  uint32_t stack;
  int32_t error;  // -1: not returned
  bool has_returned;
  bool is_known;     // whether its return, or the lack of one, is known
  uint32_t version;  // format version of the values
  std::string values;
  std::string results;

  Body start_values() const { return Body(values, version); }
  Body end_values() const { return Body(results, version); }
};

// The return of a call that was read before it returned.
struct LateReturn {
  uint64_t row;
  ThreadCall call;
};

// Reads calls ordered by start. It keeps only the few calls between a call and its return, because the definitions have
// the late returns.
class ThreadCalls {
 public:
  // `is_followed`: the capture is still being written, so unreturned calls may return later.
  ThreadCalls(const Definitions* definitions, ThreadStreams* streams, bool is_followed);

  // Returns the next call; nullptr if there is none.
  const ThreadCall* front();
  // Returns whether no call follows front().
  bool is_last() { return !fill(2); }
  // Advances past front(), which got this row.
  void pop(uint64_t row);
  // Reads the rest of the streams, so that the definitions can continue.
  void drain();
  // Continues with data that the definitions have read since the last call.
  void extend();
  bool has_late_returns() const { return !late_.empty(); }
  std::vector<LateReturn> take_late_returns();

 private:
  bool fill(size_t count);
  bool read();
  void begin(const CallStart& start);
  void end(const CallEnd& end);
  void sort();
  void take_long_calls();
  ThreadCall& at(size_t index) { return ring_[(first_ + index) & (ring_.size() - 1)]; }

  const Definitions* definitions_;
  ThreadStreams* streams_;
  bool is_followed_;
  bool has_definitions_left_ = true;
  bool has_ended_ = false;
  std::vector<LongCall> long_calls_;  // by sequence
  size_t next_long_ = 0;
  std::vector<ThreadCall> ring_;  // a circular buffer with a power of two of entries; texts keep their memory
  size_t first_ = 0;
  size_t count_ = 0;
  uint64_t popped_ = 0;
  uint64_t last_sequence_ = 0;
  OpenCalls open_;                                    // numbered from the thread's first call
  std::unordered_map<uint64_t, LateReturn> waiting_;  // calls already read, numbered likewise
  std::vector<LateReturn> late_;
};

}  // namespace framedex::capture
