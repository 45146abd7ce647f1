// Compiles in a child process, for callers that hold this process's GIL until they have their program, as jaxlib 0.10
// does when it compiles for a topology.
#pragma once

#include <memory>
#include <vector>

#include "pjrt/mock/base/event.h"
#include "pjrt/mock/delegate/program.h"
#include "pjrt/mock/machine/device_description.h"

namespace framedex::mock {

// Remembers this process's interpreter for child processes. Takes the GIL.
void remember_interpreter();

// Returns whether another thread can get the GIL soon. Releases the GIL while it waits, if the caller holds it.
bool can_take_gil();

// Compiles for these devices, which need not exist, in a child process with the remembered interpreter. The program can
// be inspected and serialised; to run it, compile it again. Returns null with the reason in `status`.
std::shared_ptr<const Program> compile_in_child(const std::vector<PJRT_DeviceDescription*>& devices,
                                                ProgramSource source, Status& status);

}  // namespace framedex::mock
