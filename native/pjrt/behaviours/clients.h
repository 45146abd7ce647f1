// The clients of the plug-in that are alive: what a behaviour makes for a device it makes through its client.
#pragma once

#include <cstddef>

#include "pjrt_c_api.h"

namespace framedex::behaviours {

// Puts functions into `table`, a copy of the plug-in's, that remember clients. What the plug-in lacks stays null.
void add_client_functions(PJRT_Api& table, const PJRT_Api& plugin);

// Writes as many of the living clients as there is room for. Returns how many there are.
size_t living_clients(PJRT_Client** clients, size_t room);

}  // namespace framedex::behaviours
