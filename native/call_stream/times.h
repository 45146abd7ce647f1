// Times of calls, in nanoseconds. Those of a damaged capture may be any, so sums of them end where numbers do.
#pragma once

#include <cstdint>

namespace framedex::call_stream {

// A time that is later than all.
inline constexpr int64_t kForever = INT64_MAX;

inline int64_t sum(int64_t time, int64_t passed) {
  int64_t result;
  if (!__builtin_add_overflow(time, passed, &result)) return result;
  return passed < 0 ? INT64_MIN : kForever;
}

}  // namespace framedex::call_stream
