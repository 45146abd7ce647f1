// The starting point of a stack.
#pragma once

#include <cstdint>

#include "architecture/architecture.h"

namespace framedex::recorder {

// The registers of a frame at a call that it makes.
struct StartRegisters {
  uintptr_t pc;  // the call's return address
  uintptr_t sp;  // the stack pointer once the call has returned
  uintptr_t fp;  // the frame's frame pointer
};

// Returns the registers of the caller of the function that this is inlined into. That function gets a frame pointer.
[[gnu::always_inline]] inline StartRegisters registers_of_caller() {
  const auto* frame = static_cast<const uintptr_t*>(__builtin_frame_address(0));
  return {architecture::strip_return_address(frame[1]), architecture::callers_stack_pointer(frame), frame[0]};
}

}  // namespace framedex::recorder
