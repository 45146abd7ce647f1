// The calls of a capture in batches: each call with its kind, its enclosing call and its arguments.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "call_stream/argument_texts.h"
#include "call_stream/callbacks.h"
#include "call_stream/causal_links.h"
#include "call_stream/kinds.h"
#include "call_stream/lifetimes.h"
#include "call_stream/nesting.h"
#include "call_stream/recorded_call.h"
#include "call_stream/times.h"
#include "capture_reader/definitions.h"
#include "capture_reader/thread_calls.h"

namespace framedex::call_stream {

// The columns of framedex.model.CallBatch.
struct Batch {
  uint64_t first = 0;
  std::vector<CallKind> kinds;
  std::vector<std::string> arguments;
  std::vector<int64_t> kind, inside, start, duration, argument;
  KindTotals totals;
  std::vector<int64_t> samples, spans, durations;
  std::vector<int64_t> changed;  // rows (row, kind, duration, argument)
  ObjectRows objects;
  uint64_t known_objects = 0;  // objects counted below this are not new
  ViolationRows violations;
  NumberRows numbers;
  std::vector<std::vector<uint32_t>> chains;  // new ones only
  LinkRows links;
};

// The maximum sum of a capture's call durations, in nanoseconds: 36 years. Durations from a damaged capture are
// arbitrary, and totals over several captures must fit in 64 bits.
inline constexpr int64_t kMaxTime = int64_t{1} << 60;

class CallStream {
 public:
  // Reads the definitions of the capture in `folder`. Starts are relative to `began`, in nanoseconds of
  // CLOCK_MONOTONIC. `lacks_calls`: the recording omitted calls. `is_followed`: the capture is still being written, and
  // extend() continues it.
  CallStream(const std::string& folder, int64_t began, const ObjectTable& table, bool lacks_calls, bool is_followed);

  const capture::Definitions& definitions() const { return definitions_; }
  // Returns the next calls, at most `most`, that began before `until` (nanoseconds of CLOCK_MONOTONIC). If `until` is
  // kForever, an empty batch marks the end of the capture.
  Batch next(uint64_t most, int64_t until);
  // Finds newly written calls for next(). Returns false if the capture must be read again from the start.
  bool extend();
  const std::vector<std::string>& object_types() const { return lifetimes_.types(); }
  // Returns pairs (row, time) of the calls so far that registered callbacks (Callbacks::invoked).
  std::vector<int64_t> callbacks() const { return callbacks_.invoked(definitions_, began_); }
  // Returns the number of unreadable records, in the calls returned so far.
  uint64_t damaged() const { return definitions_.damaged() + arguments_.damaged(); }

 private:
  struct NextCall {
    uint64_t start;
    size_t thread;
    bool operator<(const NextCall& other) const {  // for a heap, whose top is the largest
      return start != other.start ? start > other.start : thread > other.thread;
    }
  };

  struct Times {
    int64_t start;     // ns since the recording began
    int64_t duration;  // ns, -1: not returned
  };

  // Call once when a call begins, and once when it has returned.
  Times times_of(const capture::ThreadCall& call);
  void find_next();
  void add_functions();
  void add_python_threads();
  capture::ThreadCalls& calls_of(size_t index);
  // Adds calls of a thread until another thread's call is next, up to the row `end`.
  void add_calls(size_t index, uint64_t end, int64_t until, Batch* batch);
  void add(const capture::ThreadCall& call, size_t index, bool is_last, Batch* batch);
  void add_late_returns(capture::ThreadCalls* calls, uint32_t thread, Batch* batch);
  void change(const capture::LateReturn& late, uint32_t thread, Batch* batch);

  Callbacks callbacks_;  // its constructor precedes that of the definitions
  capture::Definitions definitions_;
  int64_t began_;
  bool is_followed_;
  Kinds kinds_;
  Totals totals_;
  Samples samples_;
  Spans spans_;
  Durations durations_;
  Nesting nesting_;
  ArgumentTexts arguments_;
  std::vector<std::unique_ptr<capture::ThreadCalls>> threads_;  // created at first use
  std::vector<NextCall> next_;                                  // a heap
  Lifetimes lifetimes_;
  CausalLinks links_;
  size_t functions_ = 0;  // known to the lifetimes, the links and the callbacks
  uint64_t known_objects_ = 0;
  int64_t time_left_ = kMaxTime;  // left for later calls
  uint64_t row_ = 0;
};

}  // namespace framedex::call_stream
