// FFI handlers that answer from the recording, in place of the program's kernels. XLA calls a handler without user
// data, so there is one function for each target.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "pjrt_c_api.h"
#include "replay/plan.h"

namespace framedex::replay {

// Registers a handler with XLA's CPU client of this process.
using RegisterHandler = void (*)(const char* target, void* handler);

// The handlers of this process. An answer is the one to the same arguments, or else the next of its signature. One that
// was given stays available: a replay may execute a program more than once.
class RecordedHandlers {
 public:
  static RecordedHandlers& instance();

  // Adds recorded answers, in their order, and the functions of their targets. `capture` has the contents. Throws
  // std::runtime_error if there are too many targets.
  void add(const std::string& capture, const std::vector<HandlerResult>& answers);
  // The functions by target.
  std::map<std::string, XLA_FFI_Handler*> functions() const;
  // Call before each execution, with its id. If the same execution runs again, its answers begin again.
  void begin_execution(int64_t id);
  // The number of answers to other arguments than the recorded ones, since begin_execution().
  size_t take_inexact();
  XLA_FFI_Error* answer(size_t target, XLA_FFI_CallFrame* frame);

 private:
  struct Recorded {
    HandlerResult result;
    bool is_given = false;
  };
  // Positions of answers in their order. All before `next` were given.
  struct Positions {
    std::vector<size_t> all;
    size_t next = 0;
  };
  struct Target {
    std::string name;
    std::vector<Recorded> answers;
    std::map<int64_t, Positions> by_signature;
    std::map<std::pair<int64_t, std::string>, Positions> by_arguments;
  };
  // Returns the first answer that was not given; nullptr if all were.
  static Recorded* first_not_given(Target& target, Positions& positions);
  // Returns the content of the answer to a call. Throws PluginError if there is none.
  std::string take(Target& target, const XLA_FFI_CallFrame& frame);

  std::string capture_;
  std::mutex mutex_;  // guards the members below after add()
  std::vector<Target> targets_;
  size_t inexact_ = 0;
  int64_t execution_ = INT64_MIN;
};

}  // namespace framedex::replay
