// The merged stack of the calling thread as a small number: the same stack, the same number.
#pragma once

#include <memory>

#include "recorder/stacks/merge.h"
#include "recorder/stacks/replay.h"
#include "recorder/stacks/stack_table.h"
#include "recorder/walks/python_runtime.h"
#include "recorder/walks/unwinder.h"

namespace framedex::recorder {

// One per thread.
class StackWalker {
 public:
  // Deeper stacks lose their outermost frames and are marked as truncated.
  static constexpr size_t kMaximumFrames = 4096;

  static constexpr uint32_t kInSignalHandler = 0xFFFFFFFF;

  struct Found {
    uint32_t id;        // kInSignalHandler: nothing may be allocated or locked for this stack, so it has no number
    bool is_new;        // then `stack` and frames() describe it
    MergedStack stack;  // not filled in by a replay
  };

  StackWalker(const PythonRuntime& python, Unwinder& unwinder);

  // The stack that begins at `start`. A known stack costs neither an allocation, a lock nor a call into Python.
  Found find(const StartRegisters& start);
  // The same by a walk, whether it is known or not.
  Found walk(const StartRegisters& start);
  // The same with libgcc's native walk: the oracle.
  Found walk_with_libgcc(const StartRegisters& start);

  // The frames of the stack walked last, innermost first.
  const MergedFrame* frames() const { return merged_.get(); }
  // To be called when a library was unloaded: known stacks may mean something else.
  void forget();

 private:
  Found walk(const StartRegisters& start, uintptr_t thread_state);
  Found merge_and_intern(const NativeStack& native, uintptr_t thread_state, ReadLog* log);

  const PythonRuntime& python_runtime_;
  Unwinder& unwinder_;
  uintptr_t stack_end_;
  ReplayCache replay_;
  StackTable stacks_;
  // Sized for the deepest stack.
  std::unique_ptr<NativeStack> native_;
  std::unique_ptr<NativeStack> native_before_;
  std::unique_ptr<NativeStack> native_by_libgcc_;  // only where stacks are verified
  std::unique_ptr<ReadLog> log_;
  std::unique_ptr<PythonFrame[]> python_;
  std::unique_ptr<MergedFrame[]> merged_;
};

}  // namespace framedex::recorder
