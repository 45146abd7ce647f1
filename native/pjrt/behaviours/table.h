// The layer's place in the table: between what is recorded and what is behind it.
#pragma once

#include <cstddef>

#include "pjrt/behaviours/errors.h"
#include "pjrt/behaviours/functions.h"
#include "pjrt_c_api.h"

namespace framedex::behaviours {

// A table around `plugin`, the finished mock or a checked plug-in: its own functions, but for those that are watched.
// Nothing stands before the others, so they cost and record what they would without behaviours. There is one in a
// process: another plug-in is returned as it is.
const PJRT_Api* layered(const PJRT_Api* plugin);

// What is behind the layer; nullptr before layered(). It knows errors of behaviours.
const PJRT_Api* below();

// Lets a function of the table ask for behaviours first, or no longer; before layered(), too.
void watch(size_t function, bool is_wanted);
bool is_watched(size_t function);

// The default of a function of the table; nullptr: the plug-in has none.
Entry default_of(size_t function);
// Calls it. nullptr also where it returns nothing.
PJRT_Error* call_default(size_t function, void* arguments);

}  // namespace framedex::behaviours
