// The files that a capture keeps beside its streams, which are named by their content.
#pragma once

#include <string_view>

namespace framedex::capture {

// Whether a file of this name has the content that it had when it was kept.
bool is_kept_content(std::string_view name, std::string_view content);

}  // namespace framedex::capture
