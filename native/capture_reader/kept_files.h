// The kept files of a capture, which are named by their content.
#pragma once

#include <string_view>

namespace framedex::capture {

// Returns whether a file of this name still has its original content.
bool is_kept_content(std::string_view name, std::string_view content);

}  // namespace framedex::capture
