// Threads that run behaviours for callers that must not wait for the GIL without end: they may hold a lock of jaxlib's
// that a holder of the GIL waits for.
#pragma once

#include <cstddef>

#include "pjrt_c_api.h"

namespace framedex::behaviours {

// A call of a function by a thread without the GIL. A helper works on a copy of the `size` bytes of its arguments, and
// is left alone once it takes too long; with size 0 on the arguments themselves, and then it is waited for once it has
// the GIL. The error is the caller's.
PJRT_Error* with_helper(size_t function, void* arguments, size_t size);

}  // namespace framedex::behaviours
