// Times of calls, in nanoseconds. Those of a damaged capture may be any, so a sum of them ends where numbers do.
#pragma once

#include <cstdint>

namespace framedex::call_stream {

// A time that is later than all.
inline constexpr int64_t kForever = INT64_MAX;

// `passed` is not negative.
inline int64_t sum(int64_t time, int64_t passed) {
  int64_t result;
  return __builtin_add_overflow(time, passed, &result) ? kForever : result;
}

}  // namespace framedex::call_stream
