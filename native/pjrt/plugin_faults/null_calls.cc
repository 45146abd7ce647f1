#include "pjrt/plugin_faults/null_calls.h"

#include <signal.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>

#include "pjrt/slots.h"
#include "recorder/base/errno_scope.h"
#include "recorder/process/signals.h"
#include "recorder/recorder.h"

namespace framedex::pjrt {
namespace {

struct sigaction before;

// Whether this thread has entered the wrapper of a null slot. Its next fault is the wrapper's.
thread_local __attribute__((tls_model("initial-exec"))) bool has_entered_wrapper = false;

// Copies memory that may be unmapped. Async-signal-safe.
bool copy_memory(uintptr_t source, void* target, size_t size) {
  iovec from = {reinterpret_cast<void*>(source), size};
  iovec to = {target, size};
  return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == static_cast<ssize_t>(size);
}

// Returns the register with a number of x86's encoding.
uintptr_t register_of(const mcontext_t& context, unsigned number) {
  constexpr int kRegisters[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                                REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
  return static_cast<uintptr_t>(context.gregs[kRegisters[number]]);
}

// Returns the address of the word with the called function, for `call *offset(register)` before the return address; 0
// for other instructions. The registers are those of the call.
uintptr_t called_slot(const mcontext_t& context, uintptr_t return_address) {
  constexpr size_t kLongest = 7;
  unsigned char code[kLongest];
  if (!copy_memory(return_address - kLongest, code, kLongest)) return 0;
  for (size_t size : {3, 6}) {  // with an offset of one or four bytes
    const unsigned char* call = code + kLongest - size;
    unsigned mode = call[1] >> 6;
    unsigned base = call[1] & 7;
    if (call[0] != 0xFF || (call[1] >> 3 & 7) != 2 || mode != (size == 3 ? 1 : 2) || base == 4) continue;
    if (call[-1] == 0x41) base += 8;                                 // the prefix REX.B
    int32_t offset = (static_cast<int32_t>(call[2]) ^ 0x80) - 0x80;  // sign-extended
    if (size == 6) std::memcpy(&offset, call + 2, sizeof(offset));
    return register_of(context, base) + static_cast<intptr_t>(offset);
  }
  return 0;
}

// The null slots that a call may have used.
struct Candidates {
  const Slot* only = nullptr;
  size_t count = 0;

  void add(const Slot& slot) {
    only = &slot;
    ++count;
  }
};

// Finds the null slot that was called: by its address in a traced table, or else by the size of the arguments. Returns
// nullptr if several slots are possible.
const Slot* find_null_slot(const mcontext_t& context) {
  auto stack = static_cast<uintptr_t>(context.gregs[REG_RSP]);
  uintptr_t return_address = 0;
  if (!copy_memory(stack, &return_address, sizeof(return_address))) return nullptr;
  uintptr_t called = called_slot(context, return_address);
  uintptr_t argument_size = 0;
  copy_memory(static_cast<uintptr_t>(context.gregs[REG_RDI]), &argument_size, sizeof(argument_size));
  Candidates candidates;
  for (const TracedTable& table : traced_tables()) {
    for (size_t i = 0; i < table.slot_count; ++i) {
      const Slot& slot = table.slots[i];
      if (!table.has(slot) || table.function_at(slot) != nullptr) continue;
      if (called == reinterpret_cast<uintptr_t>(table.copy + slot.offset)) return &slot;
      if (slot.argument_size == argument_size) candidates.add(slot);
    }
  }
  return candidates.count == 1 ? candidates.only : nullptr;
}

void on_fault(int number, siginfo_t* info, void* data) {
  recorder::ErrnoScope errno_scope;
  mcontext_t& context = static_cast<ucontext_t*>(data)->uc_mcontext;
  bool is_null_call = info->si_code > 0 && context.gregs[REG_RIP] == 0 && !has_entered_wrapper;
  const Slot* slot = is_null_call ? find_null_slot(context) : nullptr;
  if (slot != nullptr) {
    has_entered_wrapper = true;
    context.gregs[REG_RIP] = static_cast<greg_t>(reinterpret_cast<uintptr_t>(slot->wrapper));
  } else {
    recorder::record_fatal_signal(number, *info, data);
    has_entered_wrapper = false;
    recorder::forward_fatal_signal(before, number, info, data);
  }
}

}  // namespace

void watch_null_calls() {
  bool has_null = false;
  for (const TracedTable& table : traced_tables()) {
    for (size_t i = 0; i < table.slot_count; ++i) {
      has_null = has_null || (table.has(table.slots[i]) && table.function_at(table.slots[i]) == nullptr);
    }
  }
  if (!has_null) return;
  struct sigaction action{};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  sigaction(SIGSEGV, nullptr, &before);
  sigaction(SIGSEGV, &action, nullptr);
}

}  // namespace framedex::pjrt
