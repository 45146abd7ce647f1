// The living clients of the plug-in. Behaviours use them to create objects on a device.
#pragma once

#include <cstddef>

#include "pjrt_c_api.h"

namespace framedex::behaviours {

// Puts functions that track clients into `table`, a copy of the plug-in's table. Entries that the plug-in lacks stay
// null.
void add_client_functions(PJRT_Api& table, const PJRT_Api& plugin);

// Writes living clients to `clients`, at most `room`. Returns their total number.
size_t live_clients(PJRT_Client** clients, size_t room);

}  // namespace framedex::behaviours
