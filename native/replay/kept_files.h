// The programs and contents that a capture keeps.
#pragma once

#include <string>

namespace framedex::replay {

// Reads a program or a content. Its name is derived from its bytes, so a changed file is detected. Throws PluginError.
std::string read_kept(const std::string& folder, const char* kind, const std::string& name);

}  // namespace framedex::replay
