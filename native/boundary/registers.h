// The registers and the stack of a caller at the entry of a function, as a trampoline stores them.
#pragma once

#include <cstdint>

#include "architecture/architecture.h"

namespace framedex::boundary {

// In the order of addresses; architecture/*/boundary_trampolines.cc store it.
struct Registers {
  double vectors[architecture::kVectorArguments][2];
  uint64_t answer;  // of framedex_boundary_return; at the entry rax, or x8 on AArch64
  uint64_t integers[architecture::kIntegerArguments];
  uint64_t fp;
  uint64_t boundary;  // the trampoline's index
  uint64_t return_address;
  uint64_t stack[1];  // arguments that are not in registers
};

}  // namespace framedex::boundary
