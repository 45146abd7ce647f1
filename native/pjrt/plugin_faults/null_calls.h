// Calls of functions that a plug-in lacks.
//
// A null slot stays null, so a client can check it. A client that calls it anyway jumps to address 0. Our signal
// handler for that fault redirects the call to the function's wrapper, which records it and jumps to address 0 again.
// So the process ends as it would without framedex, and the call is in the capture.
#pragma once

namespace framedex::pjrt {

// Installs the handler, once, if a traced table has null slots. Not thread-safe.
void watch_null_calls();

}  // namespace framedex::pjrt
