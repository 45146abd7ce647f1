#include "recorder/walks/unwinder.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <unwind.h>

#include "architecture/architecture.h"
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
  // In a callback of _Unwind_Backtrace, the context's "CFA" is still that of the next inner frame: this frame's stack
  // pointer.
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
  walk.frames[walk.count++] = {pc + (before_instruction ? 1 : 0), sp, rule, 0, 0, 0};
  return _URC_NO_REASON;
}

uintptr_t word_at(uintptr_t address) { return *reinterpret_cast<const uintptr_t*>(address); }

// A walk with rules, positioned at one of its frames.
class RuleWalk {
 public:
  RuleWalk(const StartRegisters& start, uintptr_t stack_end, WalkedFrame* frames, size_t capacity,
           Reads<uintptr_t>* reads)
      : pc_(start.pc),
        sp_(start.sp),
        fp_(start.fp),
        stack_end_(stack_end),
        frames_(frames),
        next_(frames),
        capacity_end_(frames + capacity),
        writer_(reads) {}

  uintptr_t pc() const { return pc_; }
  uintptr_t sp() const { return sp_; }
  bool is_at(const WalkedFrame& frame) const {
    return frame.pc == pc_ && frame.sp == sp_ && frame.fp == fp_ && frame.fp_slot == fp_slot_;
  }
  bool is_at_end() const { return is_at_end_ || pc_ == 0 || next_ == capacity_end_; }
  size_t count() const { return static_cast<size_t>(next_ - frames_); }
  bool can_replay() const { return can_replay_; }
  bool needs_start_fp() const { return needs_start_fp_; }

  // Advances to the next frame. Returns false if the rule is exotic or the stack contradicts it.
  bool step(FrameRule rule) {
    if (rule.is_exotic()) return false;
    *next_++ = {pc_, sp_, rule, fp_, fp_slot_, writer_.count()};
    if (rule.is_end()) {
      is_at_end_ = true;
      // Code without unwind information is JIT code, and may be replaced at any time.
      if (rule.is_unknown()) can_replay_ = false;
      return true;
    }
    if (rule.cfa_from_fp()) note_use_of_fp();
    uintptr_t cfa;
    // Branches instead of sums, so that the next frame's address does not depend on the look-up of a rule.
    if (__builtin_expect(rule.is_frame_pointer(), 1)) {
      cfa = fp_ + 16;
    } else {
      cfa = (rule.cfa_from_fp() ? fp_ : sp_) + static_cast<uintptr_t>(rule.cfa_offset());
    }
    if (__builtin_expect(rule.cfa_is_indirect(), 0)) {
      if (!is_on_stack(cfa)) return false;
      cfa = word_at(cfa);
      can_replay_ = false;
    }
    if (__builtin_expect(!is_on_stack(cfa), 0)) return false;
    if (__builtin_expect(rule.is_frame_pointer(), 1)) {
      fp_slot_ = fp_;
      fp_ = word_at(fp_slot_);
    } else if (rule.saves_fp()) {
      fp_slot_ = cfa + static_cast<uintptr_t>(rule.saved_fp_offset());
      fp_ = word_at(fp_slot_);
    }
    uintptr_t pc_slot = cfa + static_cast<uintptr_t>(architecture::return_address_offset(rule.saved_fp_offset()));
    uintptr_t stored_pc = word_at(pc_slot);
    pc_ = architecture::strip_return_address(stored_pc);
    sp_ = cfa;
    writer_.note(pc_slot, stored_pc);
    return true;
  }

  // Copies the rest of an earlier walk from `frame` on, up to the first read that has changed. Returns the frame
  // of `before` to compare next.
  const WalkedFrame* take_over(const NativeStack& before, const WalkedFrame* frame) {
    const WalkedFrame* end = before.frames() + before.count();
    const Reads<uintptr_t>& reads = before.reads();
    size_t unchanged = reads.unchanged_from(frame->reads);
    bool is_whole = unchanged == reads.count();
    const WalkedFrame* last = is_whole ? end : frame;
    while (!is_whole && last + 1 != end && last[1].reads <= unchanged) ++last;
    copy(frame, last);
    writer_.note(reads, frame->reads, is_whole ? reads.count() : last->reads);
    if (fp_slot_ == kStart && before.needs_start_fp()) needs_start_fp_ = true;
    if (is_whole) {
      is_at_end_ = true;
      return end;
    }
    pc_ = last->pc;
    sp_ = last->sp;
    fp_slot_ = last->fp_slot;
    // A saved fp that no rule used was not compared.
    fp_ = fp_slot_ == kNoted || fp_slot_ == kStart ? last->fp : word_at(fp_slot_);
    return last + 1;
  }

 private:
  // Values of fp_slot_ that are not an address: fp is already logged, or it is the start's.
  static constexpr uintptr_t kNoted = 0;
  static constexpr uintptr_t kStart = 1;

  // Strictly between the stack pointer and the end of the stack, and aligned.
  bool is_on_stack(uintptr_t address) const { return address > sp_ && address < stack_end_ && address % 8 == 0; }

  // Logs the read of fp once a rule uses it.
  void note_use_of_fp() {
    if (fp_slot_ == kStart) {
      needs_start_fp_ = true;
    } else if (fp_slot_ != kNoted) {
      writer_.note(fp_slot_, fp_);
    }
    fp_slot_ = kNoted;
  }

  void copy(const WalkedFrame* from, const WalkedFrame* to) {
    size_t further = writer_.count() - from->reads;
    for (; from != to && next_ != capacity_end_; ++from, ++next_) {
      *next_ = *from;
      next_->reads += further;
    }
  }

  uintptr_t pc_;
  uintptr_t sp_;
  uintptr_t fp_;
  uintptr_t fp_slot_ = kStart;
  uintptr_t stack_end_;
  WalkedFrame* frames_;
  WalkedFrame* next_;
  WalkedFrame* capacity_end_;
  bool is_at_end_ = false;
  bool can_replay_ = true;
  bool needs_start_fp_ = false;
  Reads<uintptr_t>::Writer writer_;
};

}  // namespace

void Unwinder::walk(const StartRegisters& start, uintptr_t stack_end, const NativeStack& before, NativeStack* stack) {
  if (!walk_with_rules(start, stack_end, before, stack)) walk_with_libgcc(start.sp, stack);
}

void Unwinder::walk_with_libgcc(uintptr_t innermost, NativeStack* stack) {
  WalkedFrame* frames = stack->frames_.get();
  LibgccWalk walk{innermost, evaluator_, frames, stack->capacity_, 0, false};
  LoaderLock lock;
  _Unwind_Backtrace(visit, &walk);
  if (walk.count > 0 && walk.count < stack->capacity_) {
    // libgcc ends with the frame for which it has no unwind entry, and reports the previous frame in its place.
    WalkedFrame& last = frames[walk.count - 1];
    if (rules_.find(last.pc).is_unknown()) last.rule = FrameRule::unknown();
  }
  stack->count_ = walk.count;
  stack->has_signal_ = walk.has_signal;
  stack->can_replay_ = false;
}

bool Unwinder::walk_with_rules(const StartRegisters& start, uintptr_t stack_end, const NativeStack& before,
                               NativeStack* stack) {
  // Not on the thread's own stack: the bounds do not apply.
  if (start.sp >= stack_end) return false;
  stack->reads_.clear();
  RuleWalk walk(start, stack_end, stack->frames_.get(), stack->capacity_, &stack->reads_);
  const WalkedFrame* known = before.frames();
  const WalkedFrame* known_end = known + (before.can_replay() && !before.is_truncated() ? before.count() : 0);
  while (!walk.is_at_end()) {
    while (known != known_end && known->sp < walk.sp()) ++known;
    if (known != known_end && walk.is_at(*known)) {
      known = walk.take_over(before, known);
    } else if (!walk.step(rules_.find(walk.pc()))) {
      return false;
    }
  }
  stack->count_ = walk.count();
  stack->has_signal_ = false;  // the frame of a signal handler is exotic
  stack->can_replay_ = walk.can_replay() && stack->reads_.is_complete();
  stack->needs_start_fp_ = walk.needs_start_fp();
  return true;
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
  // For the main thread, the C library parses a file (/proc/self/maps).
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
