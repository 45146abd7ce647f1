// The caller's registers and stack at the entry of a function, as a trampoline stores them.
#pragma once

#include <cstdint>

#include "architecture/architecture.h"

namespace framedex::boundary {

// In address order. architecture/*/boundary_trampolines.cc fill it.
struct Registers {
  double vectors[architecture::kVectorArguments][2];
  uint64_t answer;  // returned by framedex_boundary_return; at the entry rax, or x8 on AArch64
  uint64_t integers[architecture::kIntegerArguments];
  uint64_t fp;
  uint64_t boundary;  // the trampoline's index
  uint64_t return_address;
  uint64_t stack[1];  // arguments on the stack
};

}  // namespace framedex::boundary
