#include "pjrt/plugin_faults/null_calls.h"

#include <signal.h>
#include <ucontext.h>

#include <cstdint>
#include <cstring>

#include "architecture/architecture.h"
#include "pjrt/slots.h"
#include "recorder/base/errno_scope.h"
#include "recorder/base/readable_memory.h"
#include "recorder/process/signals.h"
#include "recorder/recorder.h"

namespace framedex::pjrt {
namespace {

struct sigaction before;

// Whether this thread has entered the wrapper of a null slot, so that its next fault is the wrapper's own jump.
thread_local __attribute__((tls_model("initial-exec"))) bool has_entered_wrapper = false;
// Whether the wrapper is that of the first of several plug-ins that may have been called.
thread_local __attribute__((tls_model("initial-exec"))) bool is_plugin_unknown = false;

// The null slots that a call may have gone through.
struct Candidates {
  const Slot* first = nullptr;
  size_t count = 0;
  bool are_one_function = true;

  void add(const Slot& slot) {
    if (count++ == 0) first = &slot;
    are_one_function = are_one_function && std::strcmp(first->function, slot.function) == 0;
  }
};

// Finds the null slot that was called: by its address in a traced table, or else by the size of the arguments and,
// if known, its offset. Returns nullptr if several functions are possible. If only the plug-in is unknown, because
// several plug-ins lack the function, returns the slot of the first one.
const Slot* find_null_slot(const mcontext_t& context) {
  is_plugin_unknown = false;
  uintptr_t return_address = architecture::return_address_at_entry(context, recorder::copy_readable);
  if (return_address == 0) return nullptr;
  architecture::CalledSlot called = architecture::called_slot(context, return_address, recorder::copy_readable);
  uintptr_t argument_size = 0;
  auto* argument = reinterpret_cast<const void*>(architecture::first_argument(context));
  recorder::copy_readable(argument, &argument_size, sizeof(argument_size));
  Candidates candidates;
  for (const TracedTable& table : traced_tables()) {
    for (size_t i = 0; i < table.slot_count; ++i) {
      const Slot& slot = table.slots[i];
      if (!table.has(slot) || table.function_at(slot) != nullptr) continue;
      if (called.address == reinterpret_cast<uintptr_t>(table.copy + slot.offset)) return &slot;
      bool fits = called.offset == 0 || called.offset == slot.offset;
      if (fits && slot.argument_size == argument_size) candidates.add(slot);
    }
  }
  is_plugin_unknown = candidates.count > 1;
  return candidates.are_one_function ? candidates.first : nullptr;
}

void on_fault(int number, siginfo_t* info, void* data) {
  recorder::ErrnoScope errno_scope;
  mcontext_t& context = static_cast<ucontext_t*>(data)->uc_mcontext;
  bool is_null_call = info->si_code > 0 && architecture::instruction_pointer(context) == 0 && !has_entered_wrapper;
  const Slot* slot = is_null_call ? find_null_slot(context) : nullptr;
  if (slot != nullptr) {
    has_entered_wrapper = true;
    architecture::set_instruction_pointer(context, reinterpret_cast<uintptr_t>(slot->wrapper));
  } else {
    recorder::record_fatal_signal(number, *info, data);
    has_entered_wrapper = false;
    recorder::forward_fatal_signal(before, number, info, data);
  }
}

}  // namespace

const char* explain_null() { return is_plugin_unknown ? "null in several plug-ins" : "null"; }

void watch_null_calls() {
  bool has_null = false;
  for (const TracedTable& table : traced_tables()) {
    for (size_t i = 0; i < table.slot_count; ++i) {
      has_null = has_null || (table.has(table.slots[i]) && table.function_at(table.slots[i]) == nullptr);
    }
  }
  static bool is_watching = false;
  if (!has_null || is_watching) return;
  is_watching = true;
  struct sigaction action{};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  sigaction(SIGSEGV, nullptr, &before);
  sigaction(SIGSEGV, &action, nullptr);
}

}  // namespace framedex::pjrt
