#include "recorder/stacks/stack_walker.h"

namespace framedex::recorder {

StackWalker::StackWalker(const PythonRuntime& python, Unwinder& unwinder)
    : python_runtime_(python),
      unwinder_(unwinder),
      stack_end_(find_stack_end()),
      native_(new WalkedFrame[kMaximumFrames]),
      python_(new PythonFrame[kMaximumFrames]),
      merged_(new MergedFrame[2 * kMaximumFrames]) {}

StackWalker::Found StackWalker::find(const StartRegisters& start) {
  uintptr_t thread_state = python_runtime_.current_thread_state();
  uint32_t id = replay_.find(start, thread_state);
  return __builtin_expect(id != ReplayCache::kUnknown, 1) ? Found{id, false, {}} : walk(start, thread_state);
}

StackWalker::Found StackWalker::walk(const StartRegisters& start) {
  return walk(start, python_runtime_.current_thread_state());
}

StackWalker::Found StackWalker::walk(const StartRegisters& start, uintptr_t thread_state) {
  Walk native = unwinder_.walk(start, stack_end_, native_.get(), kMaximumFrames);
  if (native.has_signal) return {kInSignalHandler, false, {}};
  ReadLog& log = replay_.begin(start);
  // The Python frames' reads first: stacks that start alike differ there sooner than in the native part.
  Found found = merge_and_intern(native.count, thread_state, &log);
  bool needs_rbp = false;
  bool can_replay = native.is_by_rules && log_native_reads(native_.get(), native.count, &log, &needs_rbp);
  if (can_replay && log.is_complete()) replay_.remember(start, thread_state, needs_rbp, found.id);
  return found;
}

StackWalker::Found StackWalker::walk_with_libgcc(const StartRegisters& start) {
  ReadLog unused;
  unused.clear();
  Walk native = unwinder_.walk_with_libgcc(start.sp, native_.get(), kMaximumFrames);
  return merge_and_intern(native.count, python_runtime_.current_thread_state(), &unused);
}

StackWalker::Found StackWalker::merge_and_intern(size_t native_count, uintptr_t thread_state, ReadLog* log) {
  size_t python_count = python_runtime_.walk(thread_state, python_.get(), kMaximumFrames, log);
  bool has_evaluator = python_runtime_.evaluator() != 0;
  MergedStack stack = merge(native_.get(), native_count, python_.get(), python_count, has_evaluator, merged_.get());
  stack.is_truncated = native_count == kMaximumFrames || python_count == kMaximumFrames;
  auto [id, is_new] = stacks_.intern(stack, merged_.get());
  return {id, is_new, stack};
}

void StackWalker::forget() {
  stacks_.clear();
  replay_.clear();
  unwinder_.forget();
}

}  // namespace framedex::recorder
