// Files that are there whole or not at all.
#pragma once

#include <string>
#include <string_view>

namespace framedex::recorder {

// Writes a file by rename, on the background thread. False with errno set, and nothing left of it, if it cannot be
// written.
bool write_whole_file(const std::string& path, std::string_view content);

}  // namespace framedex::recorder
