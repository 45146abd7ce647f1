// C++ exceptions that leave a plug-in's function, which the C API does not allow.
#pragma once

#include <string>

namespace framedex::pjrt {

// The code of a call that an exception left: PJRT_Error_Code_UNKNOWN.
constexpr int kExceptionCode = 2;

// Returns the type and the message of the exception that is being handled: `std::runtime_error: no chips`. The
// exception may come from another C++ runtime, which is part of the plug-in.
std::string current_exception();

}  // namespace framedex::pjrt
