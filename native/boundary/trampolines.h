// A small function for each boundary, which callers enter instead of the boundary's function.
#pragma once

#include <cstddef>

#include "boundary/boundary.h"

namespace framedex::boundary {

// Returns the trampoline of the boundary with this index. Index kMaximumBoundaries is the trampoline of `dlsym`.
const void* trampoline(size_t index);

// Called by a trampoline. Returns the address to jump to; it may change the registers first.
extern "C" const void* framedex_boundary_enter(Registers* registers) noexcept;
// Code that only returns to the caller, for calls whose result framedex_boundary_enter has stored in `answer`.
extern "C" const char framedex_boundary_return[];

}  // namespace framedex::boundary
