#include "recorder/stacks/stack_walker.h"

#include <utility>

namespace framedex::recorder {

StackWalker::StackWalker(const PythonRuntime& python, Unwinder& unwinder)
    : python_runtime_(python),
      unwinder_(unwinder),
      stack_end_(find_stack_end()),
      native_(new NativeStack(kMaximumFrames)),
      native_before_(new NativeStack(kMaximumFrames)),
      log_(new ReadLog),
      python_(new PythonFrame[kMaximumFrames]),
      merged_(new MergedFrame[2 * kMaximumFrames]) {}

StackWalker::FoundStack StackWalker::find(const StartRegisters& start) {
  uintptr_t thread_state = python_runtime_.current_thread_state();
  uint32_t id = replay_.find(start, thread_state);
  return __builtin_expect(id != ReplayCache::kUnknown, 1) ? FoundStack{id, false, {}} : walk(start, thread_state);
}

StackWalker::FoundStack StackWalker::walk(const StartRegisters& start) {
  return walk(start, python_runtime_.current_thread_state());
}

StackWalker::FoundStack StackWalker::walk(const StartRegisters& start, uintptr_t thread_state) {
  log_->clear();
  std::swap(native_, native_before_);
  unwinder_.walk(start, stack_end_, *native_before_, native_.get());
  if (native_->has_signal()) return {kInSignalHandler, false, {}};
  FoundStack found = merge_and_intern(*native_, thread_state, log_.get());
  if (!native_->can_replay()) return found;
  if (log_->is_complete()) {
    replay_.remember(start, thread_state, native_->needs_start_fp(), found.id, *log_, native_->reads());
  }
  return found;
}

StackWalker::FoundStack StackWalker::walk_with_libgcc(const StartRegisters& start) {
  log_->clear();
  if (native_by_libgcc_ == nullptr) native_by_libgcc_.reset(new NativeStack(kMaximumFrames));
  unwinder_.walk_with_libgcc(start.sp, native_by_libgcc_.get());
  return merge_and_intern(*native_by_libgcc_, python_runtime_.current_thread_state(), log_.get());
}

StackWalker::FoundStack StackWalker::merge_and_intern(const NativeStack& native, uintptr_t thread_state, ReadLog* log) {
  size_t python_count = python_runtime_.walk(thread_state, python_.get(), kMaximumFrames, log);
  bool has_evaluator = python_runtime_.evaluator() != 0;
  MergedStack stack = merge(native, python_.get(), python_count, has_evaluator, merged_.get());
  stack.is_truncated = native.is_truncated() || python_count == kMaximumFrames;
  auto [id, is_new] = stacks_.intern(stack, merged_.get());
  return {id, is_new, stack};
}

void StackWalker::forget() {
  stacks_.clear();
  replay_.clear();
  native_->clear();
  native_before_->clear();
  unwinder_.forget();
}

}  // namespace framedex::recorder
