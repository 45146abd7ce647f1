// The programs that a capture keeps in files beside its streams.
#pragma once

#include <string_view>

namespace framedex::capture {

// Whether a program is the one that was kept under a name.
bool is_kept_program(std::string_view name, std::string_view program);

}  // namespace framedex::capture
