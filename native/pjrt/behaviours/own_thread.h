// The layer's own threads.
#pragma once

#include <functional>

namespace framedex::behaviours {

// Runs `work` on a new thread. The thread blocks signals, so that the program's own threads receive them.
void start_own_thread(std::function<void()> work);

}  // namespace framedex::behaviours
