// One call of a watched function, and the outcome that its behaviours have decided so far.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "pjrt/behaviours/errors.h"
#include "pjrt/behaviours/functions.h"
#include "recorder/recorder.h"

namespace framedex::behaviours {

// Runs a function without behaviours.
using Default = PJRT_Error* (*)(size_t function, void* arguments);

// During the lifetime of this object, calls of this thread are made by a behaviour, and go to the default function. A
// RuntimeScope inside it reverses that.
class BehaviourScope {
 public:
  BehaviourScope();
  ~BehaviourScope();

 private:
  bool before_;
};
class RuntimeScope {
 public:
  RuntimeScope();
  ~RuntimeScope();

 private:
  bool before_;
};
bool inside_behaviour();

// During the lifetime of this object, this thread makes calls on behalf of another thread, which waits for it.
class ProxyCallScope {
 public:
  explicit ProxyCallScope(unsigned long thread);
  ~ProxyCallScope();
};

// Calls the default of any function of the table for a behaviour, without the GIL. Returns nothing for success.
std::optional<Failure> ask(size_t function, void* arguments);

class WatchedCall {
 public:
  // Works on the caller's `arguments`, which stay valid while the caller waits.
  WatchedCall(size_t function, void* arguments, Default answer, bool caller_has_gil);
  // Works on a copy of the arguments, so that the caller can continue without it.
  WatchedCall(size_t function, const void* arguments, size_t size, Default answer);

  size_t function() const { return function_; }
  void* arguments() const { return arguments_; }
  // The caller's thread, by Python's thread id.
  unsigned long caller_thread() const { return caller_thread_; }

  // ---- For behaviours, on their thread, with the GIL.

  // Runs the default, once; without the GIL, unless the caller holds it. Returns the failure, nothing for success.
  std::optional<Failure> run();
  void fail(Failure failure);
  void answer() { is_answered_ = true; }
  // Whether the caller has continued without the behaviours.
  bool is_abandoned() const;
  // Records the beginning and end of a behaviour; the innermost ends first.
  void begin(std::string name, std::string place);
  void end(const std::string& outcome, const Failure& failure);
  // Whether a default is running for a behaviour.
  bool is_in_default() const;
  // Returns the name and the source line of the running behaviour; empty if none is running.
  std::pair<std::string, std::string> running() const;

  // ---- For the caller.

  // Completes the call when its behaviours have finished: writes the results to the caller's `arguments`, and returns
  // the error. If behaviours have not decided the outcome, runs the default.
  PJRT_Error* settle(void* arguments);
  // Whether behaviours have decided the outcome.
  bool is_decided() const { return failure_ || has_run_ || is_answered_; }
  PJRT_Error* take_error();

  // Two threads share a call on a copy. The behaviours' thread calls these functions: start() returns whether the
  // caller still waits for behaviours, and finish() reports their end.
  bool start();
  void finish();
  // For the caller: waits until behaviours have the GIL, then until they finish. After a timeout, their later work
  // changes only the copy. The caller still gets the results of any default that they ran.
  enum class WaitResult { kLeftOut, kAbandoned, kDone };
  WaitResult wait();
  // For a caller that has continued alone. Returns the result if a behaviour has already run the default function;
  // otherwise runs the default now.
  PJRT_Error* take_default(void* arguments);

 private:
  enum class State { kWaiting, kStarted, kDone, kGivenUp };
  // Returns whether a default may begin. It may not after the caller has continued alone.
  bool begin_default();
  void end_default();

  const size_t function_;
  std::vector<char> copy_;
  void* arguments_;
  const Default default_;
  const bool caller_has_gil_;
  const unsigned long caller_thread_;

  bool has_run_ = false;
  std::vector<char> default_results_;  // the copy, as the default left it
  PJRT_Error* default_error_ = nullptr;
  std::optional<Failure> failure_;
  bool is_answered_ = false;

  struct Run {
    Run(std::string name, std::string place);
    std::string name;
    std::string place;
    recorder::Call call;
  };
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  State state_ = State::kWaiting;
  int running_defaults_ = 0;
  int defaults_ended_ = 0;
  std::deque<Run> runs_;
};

}  // namespace framedex::behaviours
