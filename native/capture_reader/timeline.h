// Times of a capture in nanoseconds of CLOCK_MONOTONIC.
#pragma once

#include <cstdint>
#include <vector>

#include "recorder/format/capture_format.h"

namespace framedex::capture {

// Ticks of the streams' clock are tied to nanoseconds by clock records; between two of them time is linear. Without any
// (every stream damaged before its first), or with a clock that counts nanoseconds, a tick is a nanosecond.
class Timeline {
 public:
  void add(const ClockRecord& anchor) { anchors_.push_back(anchor); }
  // To be called once all anchors are added.
  void finish();
  int64_t nanoseconds(uint64_t time) const;

 private:
  std::vector<ClockRecord> anchors_;
};

}  // namespace framedex::capture
