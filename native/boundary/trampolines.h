// One small function per boundary, which a caller enters in place of the boundary's function.
#pragma once

#include <cstddef>

#include "boundary/boundary.h"

namespace framedex::boundary {

// The trampoline of a boundary's index, at most kMaximumBoundaries. The last one is that of `dlsym`.
const void* trampoline(size_t index);

// Called by a trampoline. Returns the address to jump to; it may change the registers first.
extern "C" const void* framedex_boundary_enter(Registers* registers) noexcept;
// Code that only returns to the caller, for calls that framedex_boundary_enter answers in `answer`.
extern "C" const char framedex_boundary_return[];

}  // namespace framedex::boundary
