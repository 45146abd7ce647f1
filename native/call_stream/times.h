// Times of calls, in nanoseconds. Times of a damaged capture are arbitrary, so sums saturate.
#pragma once

#include <cstdint>

namespace framedex::call_stream {

// Later than every time.
inline constexpr int64_t kForever = INT64_MAX;

// Requires `passed` >= 0.
inline int64_t sum(int64_t time, int64_t passed) {
  int64_t result;
  return __builtin_add_overflow(time, passed, &result) ? kForever : result;
}

}  // namespace framedex::call_stream
