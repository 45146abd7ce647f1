// Leads the callers of boundaries to their trampolines.
//
// A library reaches another one's function through a slot of its global offset table, or with an address from dlsym.
// The slots of all loaded objects are patched, and dlsym is patched too. It looks for new objects before it answers: a
// program that loads a library asks it for a symbol before it runs its code, except for its constructors.
//
// A slot is patched only if it has the boundary's function, or if the loader would store that function there. Calls
// inside a library without a slot, those of framedex and of the loader itself, and the answers of dlsym for
// RTLD_DEFAULT and RTLD_NEXT, which depend on the caller, lead to the function itself.
#pragma once

#include <vector>

#include "boundary/boundary.h"

namespace framedex::boundary {

// Patches the callers of these boundaries in all objects, now and after each load. Call it once. With
// `reports_missing`, the exit of the process reports boundaries that no loaded library has.
void install(std::vector<Boundary*> boundaries, bool reports_missing);

}  // namespace framedex::boundary
