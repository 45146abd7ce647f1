// Behaviours that the environment asks for: FRAMEDEX_BEHAVIOUR names files of Python.
#pragma once

#include <string>

namespace framedex::behaviours {

// Runs them, once in a process; a thread that comes meanwhile waits. Empty, or why they cannot be run. While they are
// being run, what they call themselves is answered without them.
std::string load_from_environment();

}  // namespace framedex::behaviours
