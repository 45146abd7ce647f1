// The behaviours layer of the table, between the tracing and the plug-in.
#pragma once

#include <cstddef>

#include "pjrt/behaviours/errors.h"
#include "pjrt/behaviours/functions.h"
#include "pjrt_c_api.h"

namespace framedex::behaviours {

// Returns a table around `plugin`, the finished mock or a checked plug-in. Only watched functions are replaced; the
// others have the same cost and the same records as without behaviours. There is one layer per process: another plug-in
// is returned unchanged.
const PJRT_Api* add_behaviour_layer(const PJRT_Api* plugin);

// Returns the table below the layer; nullptr before add_behaviour_layer(). It handles errors of behaviours.
const PJRT_Api* table_below();

// Sets whether a function of the table runs behaviours first. Can be called before add_behaviour_layer().
void watch(size_t function, bool is_wanted);
bool is_watched(size_t function);

// Returns the default, which is the plug-in's own function; nullptr if the plug-in lacks the function.
Entry default_of(size_t function);
// Calls the default. Also returns nullptr if the function returns nothing.
PJRT_Error* call_default(size_t function, void* arguments);

}  // namespace framedex::behaviours
