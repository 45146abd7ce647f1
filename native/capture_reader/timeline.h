// Times of a capture in nanoseconds of CLOCK_MONOTONIC.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "recorder/format/capture_format.h"

namespace framedex::capture {

// Damaged captures may state any time. This is far beyond any clock, and the difference of two such times, or their
// sum, is still a number.
inline constexpr int64_t kLatest = int64_t{1} << 61;

// Ticks of the streams' clock are tied to nanoseconds by clock records; between two of them time is linear. Without any
// (every stream damaged before its first), or with a clock that counts nanoseconds, a tick is a nanosecond.
class Timeline {
 public:
  void add(const ClockRecord& anchor) { anchors_.push_back(anchor); }
  // To be called once all anchors are added.
  void finish();
  // Times that are asked for one after the other are mostly near each other, so the last stretch is looked at first.
  // Between -kLatest and kLatest.
  int64_t nanoseconds(uint64_t time) const;

 private:
  size_t stretch_of(uint64_t time) const;

  std::vector<ClockRecord> anchors_;
  mutable size_t last_stretch_ = 1;
};

}  // namespace framedex::capture
