// The native stack of the calling thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "recorder/walks/rule_cache.h"
#include "recorder/walks/start_registers.h"

namespace framedex::recorder {

// One native frame. Its locals lie from its stack pointer up to that of the next frame outward.
struct WalkedFrame {
  uintptr_t pc;  // return address into this frame (for a signal frame: the interrupted instruction + 1)
  uintptr_t sp;
  uintptr_t rbp;
  FrameRule rule;  // what led from this frame to the next; without offsets where libgcc did the walk
};

struct Walk {
  size_t count;      // frames written
  bool is_by_rules;  // otherwise by libgcc
  bool has_signal;   // passes the frame of a signal handler: what it interrupted may hold any lock
};

// Neither allocates (but when the cache of rules grows) nor calls into Python; takes a lock only for return addresses
// that it has not seen.
class Unwinder {
 public:
  explicit Unwinder(uintptr_t evaluator) : evaluator_(evaluator), rules_(evaluator) {}

  // Writes the frames from `start` outwards, at most `capacity`. `stack_end` is the end of the calling thread's stack:
  // what does not lie below it (a coroutine's stack) is left to libgcc.
  Walk walk(StartRegisters start, uintptr_t stack_end, WalkedFrame* frames, size_t capacity);

  // The same by libgcc alone: the oracle of the tests.
  Walk walk_with_libgcc(uintptr_t innermost, WalkedFrame* frames, size_t capacity);

  // To be called when a library was unloaded.
  void forget() { rules_.clear(); }

 private:
  // The number of frames, or 0 where a rule is exotic or the stack is not what the rules say.
  size_t walk_with_rules(StartRegisters start, uintptr_t stack_end, WalkedFrame* frames, size_t capacity);

  uintptr_t evaluator_;
  RuleCache rules_;
};

// Whether the calling thread is in the handler of a signal: what that interrupted may hold any lock, malloc's too.
// Takes none itself, and allocates nothing.
bool is_in_signal_handler();

// The end of the calling thread's stack. Slow on the main thread: ask once per thread.
uintptr_t find_stack_end();

}  // namespace framedex::recorder
