// Threads that run behaviours for callers that must not block on the GIL: such a caller may hold a jaxlib lock that the
// GIL's holder waits for.
#pragma once

#include <cstddef>

#include "pjrt_c_api.h"

namespace framedex::behaviours {

// Runs a call for a thread without the GIL. With `size` > 0, a helper works on a copy of the arguments, and the caller
// abandons it if it takes too long. With `size` 0, it works on the arguments themselves, and the caller waits for its
// end once it has the GIL. The caller owns the error.
PJRT_Error* run_on_helper(size_t function, void* arguments, size_t size);

}  // namespace framedex::behaviours
