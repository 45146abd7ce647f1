// The layer's own threads.
#pragma once

#include <functional>

namespace framedex::behaviours {

// Runs `work` on a new thread, until the process ends. The thread blocks signals, which are for the program's threads.
void start_own_thread(std::function<void()> work);

}  // namespace framedex::behaviours
