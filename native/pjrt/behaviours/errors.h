// Errors that behaviours make. They live beside the plug-in's own, which never sees one of these.
#pragma once

#include <string>

#include "pjrt_c_api.h"

namespace framedex::behaviours {

// How a call ended, read of an error.
struct Failure {
  PJRT_Error_Code code = PJRT_Error_Code_OK;
  std::string message;
};

PJRT_Error* make_error(const Failure& failure);

// What an error says, whoever made it: `plugin` is asked of those that are not from here. It stays as it is.
Failure read_error(const PJRT_Api& plugin, PJRT_Error* error);
void destroy_error(const PJRT_Api& plugin, PJRT_Error* error);

// Puts functions into `table`, a copy of the plug-in's, that answer for errors from here themselves and ask the
// plug-in for others. What the plug-in lacks stays null.
void add_error_functions(PJRT_Api& table, const PJRT_Api& plugin);

}  // namespace framedex::behaviours
