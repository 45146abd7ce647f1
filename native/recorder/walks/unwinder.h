// The native stack of the calling thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "recorder/walks/read_log.h"
#include "recorder/walks/rule_cache.h"
#include "recorder/walks/start_registers.h"

namespace framedex::recorder {

// One native frame. Its locals are between its stack pointer and that of the next outer frame.
struct WalkedFrame {
  uintptr_t pc;  // return address into this frame (signal frame: the interrupted instruction + 1)
  uintptr_t sp;
  FrameRule rule;  // leads from this frame to the next; without offsets after a walk by libgcc
  // Set by walks with rules only: fp, the address where fp was read, and the number of words read so far.
  uintptr_t fp;
  uintptr_t fp_slot;
  size_t reads;
};

// The frames of a walk, innermost first, and its reads. Allocated once, for the deepest stack.
class NativeStack {
 public:
  explicit NativeStack(size_t capacity) : frames_(new WalkedFrame[capacity]), capacity_(capacity) {}

  const WalkedFrame* frames() const { return frames_.get(); }
  size_t count() const { return count_; }
  bool is_truncated() const { return count_ == capacity_; }
  // Whether the walk passes a signal handler's frame: the interrupted code may hold any lock.
  bool has_signal() const { return has_signal_; }
  // Whether the stack depends only on its reads, the start's `pc` and `sp`, and the start's fp if needs_start_fp().
  bool can_replay() const { return can_replay_; }
  bool needs_start_fp() const { return needs_start_fp_; }
  // Return addresses, and each saved fp that an outer frame's rule uses.
  const Reads<uintptr_t>& reads() const { return reads_; }
  void clear() {
    count_ = 0;
    can_replay_ = false;
  }

 private:
  friend class Unwinder;

  std::unique_ptr<WalkedFrame[]> frames_;
  size_t capacity_;
  size_t count_ = 0;
  bool has_signal_ = false;
  bool can_replay_ = false;
  bool needs_start_fp_ = false;
  Reads<uintptr_t> reads_;
};

// Never calls into Python. Allocates only when the rule cache grows, and takes a lock only for new return addresses.
class Unwinder {
 public:
  explicit Unwinder(uintptr_t evaluator) : evaluator_(evaluator), rules_(evaluator) {}

  // Walks outwards from `start`. `stack_end` is the end of the calling thread's stack. Frames outside it (a coroutine's
  // stack) are left to libgcc.
  //
  // `before` is an earlier walk of this thread. From the first frame where both walks have the same registers, the rest
  // is compared and reused.
  void walk(const StartRegisters& start, uintptr_t stack_end, const NativeStack& before, NativeStack* stack);

  // Walks with libgcc alone: the oracle of the tests.
  void walk_with_libgcc(uintptr_t innermost, NativeStack* stack);

  // Call after a library was unloaded.
  void forget() { rules_.clear(); }

 private:
  // Returns false if a rule is exotic or the stack contradicts the rules.
  bool walk_with_rules(const StartRegisters& start, uintptr_t stack_end, const NativeStack& before, NativeStack* stack);

  uintptr_t evaluator_;
  RuleCache rules_;
};

// Returns whether the calling thread is in a signal handler. The interrupted code may hold any lock, including
// malloc's, so this takes no lock and allocates nothing.
bool is_in_signal_handler();

// Returns the end of the calling thread's stack. Slow on the main thread: call it once per thread.
uintptr_t find_stack_end();

}  // namespace framedex::recorder
