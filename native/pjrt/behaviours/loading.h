// Loads the behaviours in the Python files that FRAMEDEX_BEHAVIOUR names.
#pragma once

#include <string>

namespace framedex::behaviours {

// Runs the files, once per process; other threads wait. Returns an empty text, or why they cannot be run. Calls that
// the files themselves make meanwhile bypass behaviours.
std::string load_from_environment();

}  // namespace framedex::behaviours
