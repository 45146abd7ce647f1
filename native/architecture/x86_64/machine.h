// x86-64: System V ABI, AMD64 architecture processor supplement.
#pragma once

#include <elf.h>
#include <ucontext.h>
#include <x86intrin.h>

#include <cstdint>
#include <cstring>
#include <initializer_list>

namespace framedex::architecture {

// DWARF's register numbers (figure 3.36).
constexpr uint64_t kDwarfFramePointer = 6;
constexpr uint64_t kDwarfStackPointer = 7;
constexpr uint64_t kDwarfReturnAddress = 16;

// Returns the offset of a frame's return address from the CFA: `call` pushes the address.
constexpr int64_t return_address_offset(int64_t /*saved_fp_offset*/) { return -8; }

// Returns the address unchanged: return addresses are not signed.
inline uintptr_t strip_return_address(uintptr_t stored) { return stored; }

// Returns the stack pointer of the caller of a function that has a frame pointer, `frame`.
[[gnu::always_inline]] inline uintptr_t callers_stack_pointer(const uintptr_t* frame) {
  return reinterpret_cast<uintptr_t>(frame + 2);
}

// Whether a return address without an unwind entry returns from a signal handler: never, as the C library has an entry.
template <typename CopyReadable>
bool is_signal_return(uintptr_t /*return_address*/, CopyReadable /*copy*/) {
  return false;
}

// The kernel's name for the clock source that read_counter() reads.
constexpr const char* kCounterSource = "tsc";
inline uint64_t read_counter() { return __rdtsc(); }

// The arguments that calls pass in registers.
constexpr int kIntegerArguments = 6;
constexpr const char* kIntegerArgumentNames[kIntegerArguments] = {"rdi", "rsi", "rdx", "rcx", "r8", "r9"};
constexpr int kVectorArguments = 8;

// The relocation types of slots that hold a function's address.
constexpr uint32_t kJumpSlot = R_X86_64_JUMP_SLOT;
constexpr uint32_t kGlobalData = R_X86_64_GLOB_DAT;
constexpr uint32_t kAbsolute = R_X86_64_64;

// The symbol version of the oldest C library on this architecture.
constexpr const char* kOldestGlibc = "GLIBC_2.2.5";

inline uintptr_t instruction_pointer(const mcontext_t& context) {
  return static_cast<uintptr_t>(context.gregs[REG_RIP]);
}
inline void set_instruction_pointer(mcontext_t& context, uintptr_t address) {
  context.gregs[REG_RIP] = static_cast<greg_t>(address);
}
inline uintptr_t first_argument(const mcontext_t& context) { return static_cast<uintptr_t>(context.gregs[REG_RDI]); }

// Returns the return address of a call at the first instruction of the called function; 0 if the stack is not readable.
// `copy` copies memory that may be unmapped, as recorder::copy_readable does.
template <typename CopyReadable>
uintptr_t return_address_at_entry(const mcontext_t& context, CopyReadable copy) {
  uintptr_t return_address = 0;
  copy(reinterpret_cast<const void*>(context.gregs[REG_RSP]), &return_address, sizeof(return_address));
  return return_address;
}

// Returns the register with this number in the instruction encoding.
inline uintptr_t register_of(const mcontext_t& context, unsigned number) {
  constexpr int kRegisters[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                                REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
  return static_cast<uintptr_t>(context.gregs[kRegisters[number]]);
}

// The slot of a table from which a call loaded its function.
struct CalledSlot {
  uintptr_t address = 0;  // 0: unknown
  size_t offset = 0;      // of the slot in the table; 0: unknown
};

// Finds the called slot, for `call *offset(register)` before the return address; unknown for other instructions.
// `context` has the registers at the call.
template <typename CopyReadable>
CalledSlot called_slot(const mcontext_t& context, uintptr_t return_address, CopyReadable copy) {
  constexpr size_t kLongest = 7;
  unsigned char code[kLongest];
  if (copy(reinterpret_cast<const void*>(return_address - kLongest), code, kLongest) != kLongest) return {};
  for (size_t size : {3, 6}) {  // with an offset of one or four bytes
    const unsigned char* call = code + kLongest - size;
    unsigned mode = call[1] >> 6;
    unsigned base = call[1] & 7;
    if (call[0] != 0xFF || (call[1] >> 3 & 7) != 2 || mode != (size == 3 ? 1 : 2) || base == 4) continue;
    if (call[-1] == 0x41) base += 8;                                 // the prefix REX.B
    int32_t offset = (static_cast<int32_t>(call[2]) ^ 0x80) - 0x80;  // sign-extended
    if (size == 6) std::memcpy(&offset, call + 2, sizeof(offset));
    return {register_of(context, base) + static_cast<intptr_t>(offset), 0};
  }
  return {};
}

}  // namespace framedex::architecture
