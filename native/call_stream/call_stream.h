// The calls of a capture, a batch at a time: each with its kind, what it was made in, and what it had.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "call_stream/argument_texts.h"
#include "call_stream/causal_links.h"
#include "call_stream/kinds.h"
#include "call_stream/lifetimes.h"
#include "call_stream/nesting.h"
#include "call_stream/recorded_call.h"
#include "call_stream/times.h"
#include "capture_reader/definitions.h"
#include "capture_reader/thread_calls.h"

namespace framedex::call_stream {

// Columns as framedex.model.CallBatch has them.
struct Batch {
  uint64_t first = 0;
  std::vector<CallKind> kinds;
  std::vector<std::string> arguments;
  std::vector<int64_t> kind, inside, start, duration, argument;
  KindTotals totals;
  std::vector<int64_t> samples, spans, durations;
  std::vector<int64_t> changed;  // rows (row, kind, duration, argument)
  ObjectRows objects;
  uint64_t known_objects = 0;  // those that are counted below this are not new
  ViolationRows violations;
  NumberRows numbers;
  std::vector<std::vector<uint32_t>> chains;  // those that are new
  LinkRows links;
};

// What the durations of a capture's calls add up to at most, in nanoseconds: 36 years. Those of a damaged one may be
// any, and totals of several captures have to be numbers of 64 bits.
inline constexpr int64_t kMostTime = int64_t{1} << 60;

class CallStream {
 public:
  // Reads what the capture in `folder` refers to. `began` is the time, in nanoseconds of CLOCK_MONOTONIC, from which
  // starts are counted. `lacks_calls`: the recording left out some. `is_followed`: more is being written, which
  // extend() finds.
  CallStream(const std::string& folder, int64_t began, const ObjectTable& table, bool lacks_calls, bool is_followed);

  const capture::Definitions& definitions() const { return definitions_; }
  // The next calls, `most` at most, that began before `until` (nanoseconds of CLOCK_MONOTONIC); without any at the
  // end, after which nothing comes if all were asked for (kForever).
  Batch next(uint64_t most, int64_t until);
  // Finds what was written since, for next() to go on with. False where that cannot be: the capture is to be read anew.
  bool extend();
  const std::vector<std::string>& object_types() const { return lifetimes_.types(); }
  // How many records were left out since they could not be read, as far as the calls were gone through.
  uint64_t damaged() const { return definitions_.damaged() + arguments_.damaged(); }

 private:
  struct Next {
    uint64_t start;
    size_t thread;
    bool operator<(const Next& other) const {  // for a heap, whose top is the largest
      return start != other.start ? start > other.start : thread > other.thread;
    }
  };

  struct Times {
    int64_t start;     // ns since the recording began
    int64_t duration;  // ns, -1: not returned
  };

  // To be asked once when a call begins, and once when it has returned.
  Times times_of(const capture::ThreadCall& call);
  void find_next();
  void add_functions();
  void add_python_threads();
  capture::ThreadCalls& calls_of(size_t place);
  // Adds calls of a thread until another's is due, up to the row `end`.
  void add_calls(size_t place, uint64_t end, int64_t until, Batch* batch);
  void add(const capture::ThreadCall& call, uint32_t thread, bool is_last, Batch* batch);
  void add_late_returns(capture::ThreadCalls* calls, uint32_t thread, Batch* batch);
  void change(const capture::LateReturn& late, uint32_t thread, Batch* batch);

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
  std::vector<std::unique_ptr<capture::ThreadCalls>> threads_;  // made when they are come to
  std::vector<Next> next_;                                      // a heap
  Lifetimes lifetimes_;
  CausalLinks links_;
  size_t functions_ = 0;  // that the lifetimes and the links know
  uint64_t known_objects_ = 0;
  int64_t time_left_ = kMostTime;  // for the calls that are to come
  uint64_t row_ = 0;
};

}  // namespace framedex::call_stream
