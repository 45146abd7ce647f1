// Interposes between a program and a PJRT plug-in: loads the requested plug-in, checks it and returns its traced table.
#pragma once

#include <string>

#include "pjrt_c_api.h"

namespace framedex::pjrt {

// A function table and the file that it comes from.
struct Plugin {
  const PJRT_Api* api;
  std::string path;
};

// Loads the plug-in at the path in FRAMEDEX_PLUGIN; the result's path is empty if the variable is not set, or names
// several plug-ins, because libframedex_preload.so records those. A path of an existing file may contain colons. If the
// plug-in is another framedex library, returns its untraced mock, so that no call is recorded twice. Throws
// std::runtime_error with a message for the user.
Plugin plugin_from_environment();

// A layer between the plug-in and the tracing. It takes the checked table and returns a table around it.
using Layer = const PJRT_Api* (*)(const PJRT_Api* table);

// Returns the plug-in's table with the layer, traced; a traced table is returned unchanged. Records the request and the
// kind of plug-in. If this library already traces kMaximumPlugins others, prints a line on stderr and returns the
// plug-in's own table. Throws std::runtime_error with a message for the user if the table cannot be traced.
const PJRT_Api* interpose(const Plugin& plugin, Layer layer);

}  // namespace framedex::pjrt
