// Atomic file writes.
#pragma once

#include <string>
#include <string_view>

namespace framedex::recorder {

// Writes a file by rename, on the background thread. On failure returns false with errno set, and leaves no partial
// file.
bool write_whole_file(const std::string& path, std::string_view content);

}  // namespace framedex::recorder
