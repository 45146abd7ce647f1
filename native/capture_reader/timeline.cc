#include "capture_reader/timeline.h"

#include <algorithm>

namespace framedex::capture {
namespace {

// Anchors closer than this say little about the speed of the clock.
constexpr uint64_t kSpacing = 1000000;

bool is_earlier(const ClockRecord& a, const ClockRecord& b) { return a.time < b.time; }

}  // namespace

void Timeline::finish() {
  std::sort(anchors_.begin(), anchors_.end(), is_earlier);
  if (anchors_.empty()) return;
  std::vector<ClockRecord> kept{anchors_.front()};
  for (const ClockRecord& anchor : anchors_) {
    if (anchor.nanoseconds >= kept.back().nanoseconds + kSpacing) kept.push_back(anchor);
  }
  // Everything within a millisecond: the two ends are the best there is.
  if (kept.size() == 1 && anchors_.back().nanoseconds > kept.back().nanoseconds) kept.push_back(anchors_.back());
  anchors_ = std::move(kept);
}

int64_t Timeline::nanoseconds(uint64_t time) const {
  if (anchors_.size() < 2) {
    if (anchors_.empty()) return static_cast<int64_t>(time);
    return static_cast<int64_t>(anchors_[0].nanoseconds) + static_cast<int64_t>(time - anchors_[0].time);
  }
  // The stretch that holds the time; the first and the last reach on to both sides.
  auto next = std::upper_bound(anchors_.begin() + 1, anchors_.end() - 1, ClockRecord{time, 0}, is_earlier);
  const ClockRecord& from = *(next - 1);
  const ClockRecord& to = *next;
  if (to.time <= from.time) return static_cast<int64_t>(from.nanoseconds);
  double speed = static_cast<double>(to.nanoseconds - from.nanoseconds) / static_cast<double>(to.time - from.time);
  auto ticks = static_cast<int64_t>(time - from.time);
  return static_cast<int64_t>(from.nanoseconds) + static_cast<int64_t>(static_cast<double>(ticks) * speed);
}

}  // namespace framedex::capture
