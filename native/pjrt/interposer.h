// Stands between a program and a PJRT plug-in: loads the one that is asked for, checks it and hands out its table,
// traced.
#pragma once

#include <string>

#include "pjrt_c_api.h"

namespace framedex::pjrt {

// A table of functions, and the file that it is from.
struct Plugin {
  const PJRT_Api* api;
  std::string path;
};

// The plug-in whose path FRAMEDEX_PLUGIN has; its path is empty if the variable is not set. A library of framedex's own
// gives its mock as it is, so that nothing is recorded twice. Throws std::runtime_error with a message for the user.
Plugin plugin_from_environment();

// What stands between the plug-in and the tracing: it gets the checked table, and returns one around it.
using Layer = const PJRT_Api* (*)(const PJRT_Api* table);

// The plug-in's table, with the layer around it, traced; a traced table is returned as it is. Records the call that
// asked for it, with what kind of plug-in that is. Throws std::runtime_error with a message for the user if the table
// is not one that can be traced, or this library traces another plug-in already.
const PJRT_Api* interpose(const Plugin& plugin, Layer layer);

}  // namespace framedex::pjrt
