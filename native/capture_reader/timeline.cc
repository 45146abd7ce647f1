#include "capture_reader/timeline.h"

#include <algorithm>

namespace framedex::capture {
namespace {

// Anchors closer than this are too close to measure the clock's rate.
constexpr uint64_t kSpacing = 1000000;

int64_t clamp_to_int64(double nanoseconds) {
  return static_cast<int64_t>(std::clamp(nanoseconds, -static_cast<double>(kLatest), static_cast<double>(kLatest)));
}

// Clamps a time. A time above the largest signed integer has wrapped around below zero, so it is negative.
int64_t clamp_to_int64(uint64_t nanoseconds) {
  return std::clamp(static_cast<int64_t>(nanoseconds), -kLatest, kLatest);
}

bool is_earlier(const ClockRecord& a, const ClockRecord& b) { return a.time < b.time; }

}  // namespace

void Timeline::finish() {
  std::sort(anchors_.begin(), anchors_.end(), is_earlier);
  if (anchors_.empty()) return;
  std::vector<ClockRecord> kept{anchors_.front()};
  for (const ClockRecord& anchor : anchors_) {
    if (anchor.nanoseconds >= kept.back().nanoseconds + kSpacing) kept.push_back(anchor);
  }
  // All anchors are within a millisecond: use the first and the last.
  if (kept.size() == 1 && anchors_.back().nanoseconds > kept.back().nanoseconds) kept.push_back(anchors_.back());
  anchors_ = std::move(kept);
  last_stretch_ = 1;
}

// Returns the index of the anchor that ends the interval with this time. The first and last intervals extend beyond the
// anchors.
size_t Timeline::interval_of(uint64_t time) const {
  bool is_before = last_stretch_ > 1 && time < anchors_[last_stretch_ - 1].time;
  bool is_after = last_stretch_ + 1 < anchors_.size() && time >= anchors_[last_stretch_].time;
  if (is_before || is_after) {
    auto next = std::upper_bound(anchors_.begin() + 1, anchors_.end() - 1, ClockRecord{time, 0}, is_earlier);
    last_stretch_ = static_cast<size_t>(next - anchors_.begin());
  }
  return last_stretch_;
}

int64_t Timeline::nanoseconds(uint64_t time) const {
  if (anchors_.empty()) return clamp_to_int64(time);
  if (anchors_.size() < 2) return clamp_to_int64(anchors_[0].nanoseconds + (time - anchors_[0].time));
  size_t interval = interval_of(time);
  const ClockRecord& from = anchors_[interval - 1];
  const ClockRecord& to = anchors_[interval];
  if (to.time <= from.time) return clamp_to_int64(from.nanoseconds);
  double speed = static_cast<double>(to.nanoseconds - from.nanoseconds) / static_cast<double>(to.time - from.time);
  auto ticks = static_cast<int64_t>(time - from.time);
  int64_t passed = clamp_to_int64(static_cast<double>(ticks) * speed);
  return std::clamp(clamp_to_int64(from.nanoseconds) + passed, -kLatest, kLatest);
}

}  // namespace framedex::capture
