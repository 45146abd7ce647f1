// The native stack of the calling thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "recorder/walks/read_log.h"
#include "recorder/walks/rule_cache.h"
#include "recorder/walks/start_registers.h"

namespace framedex::recorder {

// One native frame. Its locals lie from its stack pointer up to that of the next frame outward.
struct WalkedFrame {
  uintptr_t pc;  // return address into this frame (for a signal frame: the interrupted instruction + 1)
  uintptr_t sp;
  FrameRule rule;  // what led from this frame to the next; without offsets where libgcc did the walk
  // What else the walk knew here, if it went by rules: rbp, where that was read, and how many words had been noted.
  uintptr_t rbp;
  uintptr_t rbp_slot;
  size_t reads;
};

// The frames of a walk, innermost first, and what it read. Allocated once, for the deepest stack.
class NativeStack {
 public:
  explicit NativeStack(size_t capacity) : frames_(new WalkedFrame[capacity]), capacity_(capacity) {}

  const WalkedFrame* frames() const { return frames_.get(); }
  size_t count() const { return count_; }
  bool is_truncated() const { return count_ == capacity_; }
  // Whether it passes the frame of a signal handler: what that interrupted may hold any lock.
  bool has_signal() const { return has_signal_; }
  // Whether it depends on nothing but what was read, `pc` and `sp` of its start, and its rbp where that is needed.
  bool can_replay() const { return can_replay_; }
  bool needs_start_rbp() const { return needs_start_rbp_; }
  // Return addresses, and a saved rbp where an outer frame's rule uses it.
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
  bool needs_start_rbp_ = false;
  Reads<uintptr_t> reads_;
};

// Neither allocates (but when the cache of rules grows) nor calls into Python; takes a lock only for return addresses
// that it has not seen.
class Unwinder {
 public:
  explicit Unwinder(uintptr_t evaluator) : evaluator_(evaluator), rules_(evaluator) {}

  // Walks from `start` outwards. `stack_end` is the end of the calling thread's stack: what does not lie below it (a
  // coroutine's stack) is left to libgcc.
  //
  // `before` is an earlier walk of this thread. From a frame on where that had the same registers, the rest of the walk
  // is the same as far as the words read there are; so only what is new of a stack is walked.
  void walk(const StartRegisters& start, uintptr_t stack_end, const NativeStack& before, NativeStack* stack);

  // The same by libgcc alone: the oracle of the tests.
  void walk_with_libgcc(uintptr_t innermost, NativeStack* stack);

  // To be called when a library was unloaded.
  void forget() { rules_.clear(); }

 private:
  // False where a rule is exotic or the stack is not what the rules say.
  bool walk_with_rules(const StartRegisters& start, uintptr_t stack_end, const NativeStack& before, NativeStack* stack);

  uintptr_t evaluator_;
  RuleCache rules_;
};

// Whether the calling thread is in the handler of a signal: what that interrupted may hold any lock, malloc's too.
// Takes none itself, and allocates nothing.
bool is_in_signal_handler();

// The end of the calling thread's stack. Slow on the main thread: ask once per thread.
uintptr_t find_stack_end();

}  // namespace framedex::recorder
