// Redirects the callers of boundaries to trampolines.
//
// A library reaches another one's function through a slot of its global offset table, or with an address from dlsym.
// The slots of all loaded objects are patched, and so is dlsym. The patched dlsym looks for new objects first: a
// program that loads a library calls dlsym before it runs the library's code. Only constructors run earlier.
//
// A slot is patched only if it contains the boundary's function, or if the loader would store that function there. Some
// calls still reach the function directly: calls inside a library without a slot, calls by framedex and the loader, and
// calls of addresses from dlsym with RTLD_DEFAULT and RTLD_NEXT, which depend on the caller.
#pragma once

#include <vector>

#include "boundary/boundary.h"

namespace framedex::boundary {

// Patches the callers of these boundaries in all objects, now and after each load. Call it once. With
// `reports_missing`, the exit of the process reports boundaries that no loaded library has.
void install(std::vector<Boundary*> boundaries, bool reports_missing);

}  // namespace framedex::boundary
