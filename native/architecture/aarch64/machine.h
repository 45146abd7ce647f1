// AArch64: Procedure Call Standard (AAPCS64), DWARF and ELF for the Arm 64-bit Architecture.
#pragma once

#include <elf.h>
#include <ucontext.h>

#include <cstdint>

namespace framedex::architecture {

// DWARF's register numbers.
constexpr uint64_t kDwarfFramePointer = 29;
constexpr uint64_t kDwarfStackPointer = 31;
constexpr uint64_t kDwarfReturnAddress = 30;

// Returns the offset of a frame's return address from the CFA. It is next to the caller's frame pointer.
constexpr int64_t return_address_offset(int64_t saved_fp_offset) { return saved_fp_offset + 8; }

// Removes the signature from a return address, so that code can be looked up by it. Processors without pointer
// authentication ignore the hint `xpaclri`.
inline uintptr_t strip_return_address(uintptr_t stored) {
  register uintptr_t address asm("x30") = stored;
  asm("hint #7" : "+r"(address));
  return address;
}

// Returns the stack pointer of the caller of the function into which this is inlined.
[[gnu::always_inline]] inline uintptr_t callers_stack_pointer(const uintptr_t* /*frame*/) {
  return reinterpret_cast<uintptr_t>(__builtin_dwarf_cfa());
}

// Whether a return address without an unwind entry is the kernel's code that returns from a signal handler. libgcc also
// recognises that code by its instructions. `copy` is recorder::copy_readable.
template <typename CopyReadable>
bool is_signal_return(uintptr_t return_address, CopyReadable copy) {
  constexpr uint32_t kReturn[] = {0xD2801168, 0xD4000001};  // mov x8, #__NR_rt_sigreturn; svc #0
  uint32_t code[2];
  size_t copied = copy(reinterpret_cast<const void*>(return_address), code, sizeof(code));
  return copied == sizeof(code) && code[0] == kReturn[0] && code[1] == kReturn[1];
}

// The kernel's name for the clock source that read_counter() reads.
constexpr const char* kCounterSource = "arch_sys_counter";
inline uint64_t read_counter() {
  uint64_t count;
  asm volatile("mrs %0, cntvct_el0" : "=r"(count));
  return count;
}

// The arguments that calls pass in registers.
constexpr int kIntegerArguments = 8;
constexpr const char* kIntegerArgumentNames[kIntegerArguments] = {"x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7"};
constexpr int kVectorArguments = 8;

// The relocation types of slots that hold a function's address.
constexpr uint32_t kJumpSlot = R_AARCH64_JUMP_SLOT;
constexpr uint32_t kGlobalData = R_AARCH64_GLOB_DAT;
constexpr uint32_t kAbsolute = R_AARCH64_ABS64;

// The symbol version of the oldest C library on this architecture.
constexpr const char* kOldestGlibc = "GLIBC_2.17";

inline uintptr_t instruction_pointer(const mcontext_t& context) { return context.pc; }
inline void set_instruction_pointer(mcontext_t& context, uintptr_t address) { context.pc = address; }
inline uintptr_t first_argument(const mcontext_t& context) { return context.regs[0]; }

// Returns the return address of a call at the first instruction of the called function.
template <typename CopyReadable>
uintptr_t return_address_at_entry(const mcontext_t& context, CopyReadable /*copy*/) {
  return context.regs[kDwarfReturnAddress];
}

// The slot of a table from which a call loaded its function.
struct CalledSlot {
  uintptr_t address = 0;  // 0: unknown
  size_t offset = 0;      // of the slot in the table; 0: unknown
};

// Finds the called slot, for `ldr function, [table, #offset]` shortly before `blr function`; unknown for other
// instructions. The table's register may have changed since the load, so the address may be wrong: compare it with the
// addresses of known tables. `copy` is recorder::copy_readable.
template <typename CopyReadable>
CalledSlot called_slot(const mcontext_t& context, uintptr_t return_address, CopyReadable copy) {
  constexpr int kMostInstructions = 8;
  uint32_t code[kMostInstructions];
  if (copy(reinterpret_cast<const void*>(return_address - sizeof(code)), code, sizeof(code)) != sizeof(code)) return {};
  uint32_t call = code[kMostInstructions - 1];
  if ((call & 0xFFFFFC1F) != 0xD63F0000) return {};  // blr
  uint32_t function = call >> 5 & 31;
  for (int i = kMostInstructions - 2; i >= 0; --i) {
    bool is_load = (code[i] & 0xFFC0001F) == (0xF9400000 | function);  // ldr, with an offset in words
    uint32_t table = code[i] >> 5 & 31;
    if (!is_load) continue;
    if (table == kDwarfStackPointer) return {};
    size_t offset = (code[i] >> 10 & 0xFFF) * 8;
    return {table == function ? 0 : context.regs[table] + offset, offset};
  }
  return {};
}

}  // namespace framedex::architecture
