// Converts times of a capture to nanoseconds of CLOCK_MONOTONIC.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "recorder/format/capture_format.h"

namespace framedex::capture {

// The limit for times, because a damaged capture may contain any number. It is far beyond any clock, and sums and
// differences of two such times do not overflow.
inline constexpr int64_t kLatest = int64_t{1} << 61;

// Clock records map ticks of the streams' clock to nanoseconds; between two of them time is linear. A tick is a
// nanosecond if the clock counts nanoseconds, or if there is no clock record (every stream is damaged before its
// first).
class Timeline {
 public:
  void add(const ClockRecord& anchor) { anchors_.push_back(anchor); }
  // Call once all anchors are added.
  void finish();
  // Returns a time between -kLatest and kLatest. Successive queries are mostly close, so the latest interval is tried
  // first.
  int64_t nanoseconds(uint64_t time) const;

 private:
  size_t interval_of(uint64_t time) const;

  std::vector<ClockRecord> anchors_;
  mutable size_t last_stretch_ = 1;
};

}  // namespace framedex::capture
