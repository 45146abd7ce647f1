// Finds the number of the calling thread's merged stack. Equal stacks have equal numbers.
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

  struct FoundStack {
    uint32_t id;        // kInSignalHandler: the walker must not allocate or lock here, so the stack has no number
    bool is_new;        // if so, `stack` and frames() describe it
    MergedStack stack;  // not set by a replay
  };

  StackWalker(const PythonRuntime& python, Unwinder& unwinder);

  // Finds the stack that begins at `start`. A known stack needs no allocation, no lock and no call into Python.
  FoundStack find(const StartRegisters& start);
  // Like find(), but always walks.
  FoundStack walk(const StartRegisters& start);
  // Like walk(), but with libgcc's native walk, as the oracle.
  FoundStack walk_with_libgcc(const StartRegisters& start);

  // Returns the frames of the latest walk, innermost first.
  const MergedFrame* frames() const { return merged_.get(); }
  // Call after a library was unloaded: known stacks may be stale.
  void forget();

 private:
  FoundStack walk(const StartRegisters& start, uintptr_t thread_state);
  FoundStack merge_and_intern(const NativeStack& native, uintptr_t thread_state, ReadLog* log);

  const PythonRuntime& python_runtime_;
  Unwinder& unwinder_;
  uintptr_t stack_end_;
  ReplayCache replay_;
  StackTable stacks_;
  // Sized for the deepest stack.
  std::unique_ptr<NativeStack> native_;
  std::unique_ptr<NativeStack> native_before_;
  std::unique_ptr<NativeStack> native_by_libgcc_;  // only if stacks are verified
  std::unique_ptr<ReadLog> log_;
  std::unique_ptr<PythonFrame[]> python_;
  std::unique_ptr<MergedFrame[]> merged_;
};

}  // namespace framedex::recorder
