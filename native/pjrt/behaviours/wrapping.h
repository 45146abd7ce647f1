// What a watched function does: it asks behaviours first.
#pragma once

#include <cstddef>
#include <cstdint>

#include "pjrt_c_api.h"

namespace framedex::behaviours {

// Called by the generated wrappers, with the caller's argument struct and its size. The error is the caller's.
PJRT_Error* wrapped_call(size_t function, void* arguments, size_t size);
// For functions that return nothing: no error can be handed to the caller.
void discard(PJRT_Error* error, size_t function);

// An allocation of `bytes` on a device of the mock: `take(memory, bytes)` is what it does without behaviours,
// `give_back(memory, address)` undoes it. Null if it fails; what a behaviour said then is why_refused(), until the
// thread's next allocation.
using Take = void* (*)(void* memory, int64_t bytes);
using GiveBack = void (*)(void* memory, void* address);
void* allocate(int device, int64_t bytes, void* memory, Take take, GiveBack give_back);
const char* why_refused();

}  // namespace framedex::behaviours
