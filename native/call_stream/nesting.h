// Finds the calls that enclose a call: boundary functions call others, such as the mock TPU's allocator.
#pragma once

#include <cstdint>
#include <vector>

#include "call_stream/kinds.h"

namespace framedex::call_stream {

struct EnclosingCall {
  static constexpr uint64_t kNone = UINT64_MAX;
  uint64_t parent;     // row of the thread's innermost enclosing call
  uint64_t outermost;  // row of the outermost one; without one, the call itself
};

class Nesting {
 public:
  // `totals` gets the own times of calls once they end.
  explicit Nesting(Totals* totals) : totals_(totals) {}

  // Adds the next call of a thread, ordered by start. A call that never returned encloses nothing, because its end is
  // unknown. A call that `is_open` may still return, so it encloses all later calls.
  EnclosingCall add(uint32_t thread, uint64_t row, uint32_t kind, int64_t start, int64_t duration, bool is_open);
  // Ends a call that was open.
  void end(uint32_t thread, uint64_t row, uint32_t kind, int64_t start, int64_t duration);
  // Ends all calls.
  void finish();

 private:
  struct RunningCall {
    int64_t end;
    uint64_t row;
    uint64_t outermost;
    uint32_t kind;
    int64_t own;  // the rest of its time
  };
  void close(std::vector<RunningCall>* open);

  Totals* totals_;
  std::vector<std::vector<RunningCall>> open_;  // by thread, innermost last
};

}  // namespace framedex::call_stream
