// The starting point of a stack.
#pragma once

#include <cstdint>

namespace framedex::recorder {

// The registers of a frame at a call that it makes.
struct StartRegisters {
  uintptr_t pc;   // the call's return address
  uintptr_t sp;   // the stack pointer once the call has returned
  uintptr_t rbp;  // the frame's rbp
};

// Returns the registers of the caller of a function with a frame pointer, whose __builtin_frame_address(0) is `frame`.
inline StartRegisters registers_of_caller(const void* frame) {
  const auto* words = static_cast<const uintptr_t*>(frame);
  return {words[1], reinterpret_cast<uintptr_t>(words + 2), words[0]};
}

}  // namespace framedex::recorder
