// Threads of the layer's own.
#pragma once

#include <functional>

namespace framedex::behaviours {

// Runs `work` on a new thread, until the process ends. Signals are for the program's own threads.
void start_own_thread(std::function<void()> work);

}  // namespace framedex::behaviours
