// The native stack of the calling thread.
#pragma once

#include <cstddef>
#include <cstdint>

namespace framedex::recorder {

// One native frame. While it runs, its locals lie in [sp, end): sp is its stack pointer, end its CFA.
struct NativeFrame {
  uintptr_t pc;  // return address into this frame (for a signal frame: the interrupted instruction + 1)
  uintptr_t sp;
  uintptr_t end;
  uintptr_t function;  // where the function's unwind entry begins, 0 if unknown
};

// The frames whose stack pointer is at or above `innermost`, innermost first. Returns how many were written, at most
// `capacity`. Neither allocates nor calls into Python.
size_t unwind(uintptr_t innermost, NativeFrame* frames, size_t capacity);

}  // namespace framedex::recorder
