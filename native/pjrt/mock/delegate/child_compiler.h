// Compiling in a process of its own: for callers that keep this one's interpreter locked until they have their program,
// as jaxlib 0.10 does when it compiles for a topology.
#pragma once

#include <memory>
#include <vector>

#include "pjrt/mock/base/event.h"
#include "pjrt/mock/delegate/program.h"
#include "pjrt/mock/machine/device_description.h"

namespace framedex::mock {

// Notes which interpreter this process has, for child processes. Takes the GIL.
void remember_interpreter();

// Whether another thread of this process gets the GIL before long. Lets go of it while it waits, if the caller has it.
bool can_take_gil();

// Compiles for these devices, which need not exist, in a child process with the remembered interpreter. The program can
// be inspected and serialised; it runs only when compiled again. Null with the reason in `status`.
std::shared_ptr<const Program> compile_in_child(const std::vector<PJRT_DeviceDescription*>& devices,
                                                ProgramSource source, Status& status);

}  // namespace framedex::mock
