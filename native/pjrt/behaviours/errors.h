// Errors that behaviours create. Clients get them like the plug-in's own errors; the plug-in never sees them.
#pragma once

#include <string>

#include "pjrt_c_api.h"

namespace framedex::behaviours {

// The outcome of a call, read from an error.
struct Failure {
  PJRT_Error_Code code = PJRT_Error_Code_OK;
  std::string message;
};

PJRT_Error* make_error(const Failure& failure);

// Reads an error of a behaviour or, by calls of `plugin`, of the plug-in. Does not destroy the error.
Failure read_error(const PJRT_Api& plugin, PJRT_Error* error);
void destroy_error(const PJRT_Api& plugin, PJRT_Error* error);

// Puts error functions into `table`, a copy of the plug-in's table. They handle errors of behaviours and forward others
// to the plug-in. Entries that the plug-in lacks stay null.
void add_error_functions(PJRT_Api& table, const PJRT_Api& plugin);

}  // namespace framedex::behaviours
