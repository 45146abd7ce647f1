// The registers and the stack of a caller at the entry of a function, as a trampoline stores them.
#pragma once

#include <cstdint>

namespace framedex::boundary {

constexpr int kIntegerRegisters = 6;
constexpr int kVectorRegisters = 8;

// In the order of addresses; trampolines.cc stores it.
struct Registers {
  double vectors[kVectorRegisters][2];
  uint64_t rax;
  uint64_t integers[kIntegerRegisters];  // rdi, rsi, rdx, rcx, r8, r9
  uint64_t rbp;
  uint64_t boundary;  // the trampoline's index
  uint64_t return_address;
  uint64_t stack[1];  // arguments that are not in registers
};

}  // namespace framedex::boundary
