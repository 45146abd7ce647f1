// The clock of the records: the processor's counter if the kernel itself uses it, else CLOCK_MONOTONIC.
#pragma once

#include <cstdint>
#include <ctime>

#include "architecture/architecture.h"
#include "recorder/format/capture_format.h"

namespace framedex::recorder {

inline uint64_t nanoseconds_of(clockid_t clock) {
  timespec time;
  clock_gettime(clock, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1000000000u + static_cast<uint64_t>(time.tv_nsec);
}

inline uint64_t monotonic_nanoseconds() { return nanoseconds_of(CLOCK_MONOTONIC); }

// The counter costs half as much as CLOCK_MONOTONIC. Clock records in the streams tie its ticks to nanoseconds.
class Clock {
 public:
  // Returns the kernel's own clock source. The kernel checks that the counter is stable and the same on all processors.
  static Clock find();

  capture::ClockKind kind() const { return kind_; }
  uint64_t now() const {
    return kind_ == capture::ClockKind::kCounter ? architecture::read_counter() : monotonic_nanoseconds();
  }

 private:
  explicit Clock(capture::ClockKind kind) : kind_(kind) {}
  capture::ClockKind kind_;
};

}  // namespace framedex::recorder
