// The calls of one thread with their returns, one after the other.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "capture_reader/definitions.h"

namespace framedex::capture {

// Times are by the stream's clock; `function` and `stack` are places in the capture. The values are encoded.
struct ThreadCall {
  uint64_t sequence;
  uint64_t start;
  uint64_t end;
  uint32_t function;
  uint32_t stack;
  int32_t error;  // -1: it has not returned
  bool has_returned;
  bool is_known;     // whether it returns, and how
  uint32_t version;  // of the format that the values are in
  std::string values;
  std::string results;

  Body start_values() const { return Body(values, version); }
  Body end_values() const { return Body(results, version); }
};

// A call that was gone through before it returned, and has returned since.
struct LateReturn {
  uint64_t row;
  ThreadCall call;
};

// Goes through the calls by start. Only those between a call and its return are kept, which are few: returns that come
// late are known from the definitions.
class ThreadCalls {
 public:
  // `is_followed`: more may be written, so what has not returned may do so later.
  ThreadCalls(const Definitions* definitions, ThreadStreams* streams, bool is_followed);

  // The next call; nullptr if there is none.
  const ThreadCall* front();
  // Whether no call comes after front().
  bool is_last() { return !fill(2); }
  // Goes on to the call after front(), which got this row.
  void pop(uint64_t row);
  // Reads what is left of the streams, so that the definitions can go on.
  void drain();
  // Goes on with what the definitions have found since.
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
  ThreadCall& at(size_t place) { return ring_[(first_ + place) & (ring_.size() - 1)]; }

  const Definitions* definitions_;
  ThreadStreams* streams_;
  bool is_followed_;
  bool has_definitions_left_ = true;
  bool has_ended_ = false;
  std::vector<LongCall> long_calls_;  // by sequence
  size_t next_long_ = 0;
  std::vector<ThreadCall> ring_;  // a power of two of places, used in turn: texts keep their memory
  size_t first_ = 0;
  size_t count_ = 0;
  uint64_t popped_ = 0;
  OpenCalls open_;                                    // counted on from the thread's first call
  std::unordered_map<uint64_t, LateReturn> waiting_;  // that were gone through, counted likewise
  std::vector<LateReturn> late_;
};

}  // namespace framedex::capture
