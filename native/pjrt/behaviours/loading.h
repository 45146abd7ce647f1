// Loads the behaviours in the Python files that FRAMEDEX_BEHAVIOUR names.
#pragma once

#include <string>

namespace framedex::behaviours {

// Runs the files, once per process; other threads wait. Returns an error message, or an empty text for success. Calls
// that the files make while they are loaded bypass behaviours.
std::string load_from_environment();

}  // namespace framedex::behaviours
