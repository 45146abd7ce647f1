// Calls of functions that a plug-in lacks.
//
// A null slot stays null, so a client may check it. A client that calls it anyway jumps to address 0. The handler of
// that fault lets the call enter the function's wrapper, which records it and jumps to address 0 itself. So the process
// ends as without framedex, and the call is in the capture.
#pragma once

namespace framedex::pjrt {

// Installs the handler if a traced table has null slots.
void watch_null_calls();

}  // namespace framedex::pjrt
