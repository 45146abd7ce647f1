// One call of a watched function: what its behaviours have made of it so far.
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

// How a function answers where no behaviour does.
using Default = PJRT_Error* (*)(size_t function, void* arguments);

// While one is there, what this thread calls is a behaviour's own, and goes to the default; while an Outside is within
// it, it is the runtime's again.
class Inside {
 public:
  Inside();
  ~Inside();

 private:
  bool before_;
};
class Outside {
 public:
  Outside();
  ~Outside();

 private:
  bool before_;
};
bool inside_behaviour();

// While one is there, this thread makes calls for another one, which waits for it.
class OnBehalf {
 public:
  explicit OnBehalf(unsigned long thread);
  ~OnBehalf();
};

// The default of any function of the table, with arguments of a behaviour's own, without the GIL. Nothing for success.
std::optional<Failure> ask(size_t function, void* arguments);

class WatchedCall {
 public:
  // Works on the caller's `arguments`. They are the caller's own as long as it waits.
  WatchedCall(size_t function, void* arguments, Default answer, bool caller_has_gil);
  // Works on a copy of them, so that the caller may go on without it.
  WatchedCall(size_t function, const void* arguments, size_t size, Default answer);

  size_t function() const { return function_; }
  void* arguments() const { return arguments_; }
  // The thread that made it, as Python numbers threads.
  unsigned long caller_thread() const { return caller_thread_; }

  // ---- For behaviours, on their thread, with the GIL.

  // Runs the default, once: without the GIL, unless the caller came with it. Returns how it ended, nothing for success.
  std::optional<Failure> run();
  void fail(Failure failure);
  void answer() { is_answered_ = true; }
  // Whether the caller has gone on without the behaviours.
  bool is_abandoned() const;
  // A behaviour begins and ends, the innermost last: recorded.
  void begin(std::string name, std::string place);
  void end(const std::string& outcome, const Failure& failure);
  // Whether a default runs for a behaviour.
  bool is_in_default() const;
  // The name and the place of the behaviour that runs, empty if none does.
  std::pair<std::string, std::string> running() const;

  // ---- For whoever made it.

  // Once behaviours are through: what is then in `arguments`, the caller's, and the error are how the call ends for it.
  // Where behaviours have not decided that, the default has its turn.
  PJRT_Error* settle(void* arguments);
  // Whether they have, and with which error.
  bool is_decided() const { return failure_ || has_run_ || is_answered_; }
  PJRT_Error* take_error();

  // A call on a copy, for its two threads. The behaviours' thread: whether they are still wanted; they are through.
  bool start();
  void finish();
  // The caller: waits until behaviours have the GIL, then until they are through. False: they were too late, and what
  // they still do changes nothing but the copy. What the default has done for them is the caller's all the same.
  enum class Ended { kLeftOut, kAbandoned, kDone };
  Ended wait();
  // After it went on alone: what the default has done for behaviours, or does now.
  PJRT_Error* take_default(void* arguments);

 private:
  enum class State { kWaiting, kStarted, kDone, kGivenUp };
  // Whether a default may begin: not once the caller has gone on.
  bool begin_default();
  void end_default();

  const size_t function_;
  std::vector<char> copy_;
  void* arguments_;
  const Default default_;
  const bool caller_has_gil_;
  const unsigned long caller_thread_;

  bool has_run_ = false;
  std::vector<char> default_results_;  // the copy as the default left it
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
  int defaults_under_way_ = 0;
  int defaults_ended_ = 0;
  std::deque<Run> runs_;
};

}  // namespace framedex::behaviours
