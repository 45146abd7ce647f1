#include "recorder/walks/unwinder.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <unwind.h>

#include "recorder/process/background.h"
#include "recorder/process/loader_lock.h"

namespace framedex::recorder {
namespace {

struct LibgccWalk {
  uintptr_t innermost;
  uintptr_t evaluator;
  WalkedFrame* frames;
  size_t capacity;
  size_t count;
  bool has_signal;
};

_Unwind_Reason_Code visit(_Unwind_Context* context, void* argument) {
  auto& walk = *static_cast<LibgccWalk*>(argument);
  // In a callback of _Unwind_Backtrace, the "CFA" of the context is still that of the next inner frame: the stack
  // pointer of the frame visited.
  auto sp = static_cast<uintptr_t>(_Unwind_GetCFA(context));
  if (sp < walk.innermost) return _URC_NO_REASON;
  if (walk.count == walk.capacity) return _URC_END_OF_STACK;
  int before_instruction = 0;
  uintptr_t pc = _Unwind_GetIPInfo(context, &before_instruction);
  if (before_instruction) walk.has_signal = true;
  uintptr_t function = _Unwind_GetRegionStart(context);
  if (pc == 0) return _URC_END_OF_STACK;
  FrameRule rule = FrameRule::exotic();
  if (walk.evaluator != 0 && function == walk.evaluator) rule = rule.with_evaluator_mark();
  walk.frames[walk.count++] = {pc + (before_instruction ? 1 : 0), sp, 0, rule};
  return _URC_NO_REASON;
}

// A frame of code without unwind information, where the walk ends.
WalkedFrame unknown_frame(uintptr_t pc, uintptr_t sp) { return {pc, sp, 0, FrameRule::unknown()}; }

uintptr_t word_at(uintptr_t address) { return *reinterpret_cast<const uintptr_t*>(address); }

}  // namespace

Walk Unwinder::walk(StartRegisters start, uintptr_t stack_end, WalkedFrame* frames, size_t capacity) {
  size_t count = walk_with_rules(start, stack_end, frames, capacity);
  // A signal frame is exotic, so this walk met none.
  return count != 0 ? Walk{count, true, false} : walk_with_libgcc(start.sp, frames, capacity);
}

Walk Unwinder::walk_with_libgcc(uintptr_t innermost, WalkedFrame* frames, size_t capacity) {
  LibgccWalk walk{innermost, evaluator_, frames, capacity, 0, false};
  LoaderLock lock;
  _Unwind_Backtrace(visit, &walk);
  if (walk.count > 0 && walk.count < capacity) {
    // libgcc ends with the frame for which it has no unwind entry, and hands out the one before's in its place.
    WalkedFrame& last = frames[walk.count - 1];
    if (rules_.find(last.pc).is_unknown()) last = unknown_frame(last.pc, last.sp);
  }
  return {walk.count, false, walk.has_signal};
}

size_t Unwinder::walk_with_rules(StartRegisters start, uintptr_t stack_end, WalkedFrame* frames, size_t capacity) {
  // Not on the thread's own stack: the bounds below would mean nothing.
  if (start.sp >= stack_end) return 0;
  uintptr_t pc = start.pc;
  uintptr_t sp = start.sp;
  uintptr_t rbp = start.rbp;
  // Strictly between the stack pointer and the end of the stack, and aligned.
  auto is_on_stack = [&](uintptr_t address) { return address - sp - 1 < stack_end - sp - 1 && address % 8 == 0; };
  for (size_t count = 0; count < capacity;) {
    FrameRule rule = rules_.find(pc);
    uintptr_t cfa;
    if (__builtin_expect(rule.is_frame_pointer(), 1)) {
      cfa = rbp + 16;
    } else if (!rule.needs_care()) {
      cfa = (rule.cfa_from_rbp() ? rbp : sp) + static_cast<uintptr_t>(rule.cfa_offset());
    } else if (rule.is_exotic()) {
      return 0;
    } else if (rule.is_end()) {
      frames[count++] = rule.is_unknown() ? unknown_frame(pc, sp) : WalkedFrame{pc, sp, rbp, rule};
      return count;
    } else {
      uintptr_t slot = rbp + static_cast<uintptr_t>(rule.cfa_offset());
      if (!is_on_stack(slot)) return 0;
      cfa = word_at(slot);
    }
    if (__builtin_expect(!is_on_stack(cfa), 0)) return 0;
    frames[count++] = {pc, sp, rbp, rule};
    if (rule.saves_rbp()) rbp = word_at(cfa + static_cast<uintptr_t>(rule.saved_rbp_offset()));
    pc = word_at(cfa - 8);
    sp = cfa;
    if (pc == 0) return count;
  }
  return capacity;
}

bool is_in_signal_handler() {
  bool found = false;
  auto look = [](_Unwind_Context* context, void* result) {
    int before_instruction = 0;
    _Unwind_GetIPInfo(context, &before_instruction);
    if (before_instruction == 0) return _URC_NO_REASON;
    *static_cast<bool*>(result) = true;
    return _URC_END_OF_STACK;
  };
  _Unwind_Backtrace(look, &found);
  return found;
}

uintptr_t find_stack_end() {
  pthread_attr_t attributes;
  pthread_t thread = pthread_self();
  int error = 0;
  auto read = [&] { error = pthread_getattr_np(thread, &attributes); };
  // Of the main thread, the C library finds it in a file (/proc/self/maps).
  bool is_main_thread = syscall(SYS_gettid) == getpid();
  if (!is_main_thread) {
    read();
  } else if (!BackgroundThread::instance().perform(read)) {
    return 0;
  }
  if (error != 0) return 0;
  void* begin = nullptr;
  size_t size = 0;
  pthread_attr_getstack(&attributes, &begin, &size);
  pthread_attr_destroy(&attributes);
  return reinterpret_cast<uintptr_t>(begin) + size;
}

}  // namespace framedex::recorder
