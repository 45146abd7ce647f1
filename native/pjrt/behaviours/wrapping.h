// The wrapper of a watched function: it runs behaviours first.
#pragma once

#include <cstddef>
#include <cstdint>

#include "pjrt_c_api.h"

namespace framedex::behaviours {

// Called by the generated wrappers with the caller's argument struct and its size. The caller owns the error.
PJRT_Error* wrapped_call(size_t function, void* arguments, size_t size);
// Prints and drops the error of a function that cannot return it.
void discard(PJRT_Error* error, size_t function);

// Allocates `bytes` on a device of the mock. `take(memory, bytes)` allocates without behaviours; `give_back(memory,
// address)` undoes it. Returns null on failure. A behaviour's reason is then in refusal_reason() until the thread's
// next allocation.
using Take = void* (*)(void* memory, int64_t bytes);
using GiveBack = void (*)(void* memory, void* address);
void* allocate(int device, int64_t bytes, void* memory, Take take, GiveBack give_back);
const char* refusal_reason();

}  // namespace framedex::behaviours
