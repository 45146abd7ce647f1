// The callbacks of events: the calls that registered them, and when the runtime invoked them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "capture_reader/definitions.h"
#include "capture_reader/open_calls.h"

namespace framedex::call_stream {

class Callbacks {
 public:
  // Reads the pending callbacks of the capture in `folder`.
  explicit Callbacks(const std::string& folder) { read_pending(folder); }
  // Call before new data of a growing capture is read: a callback that is invoked later is then still pending, not
  // unknown.
  void read_pending(const std::string& folder) { pending_ = capture::read_pending_callbacks(folder); }
  // Call in the order of the capture's function indexes.
  void add_function(const std::string& name) { registers_.push_back(name == kRegisteringFunction); }
  // Adds a call of the thread with this number in file names.
  void add(uint32_t function, uint32_t thread, uint64_t sequence, uint64_t row) {
    if (registers_[function]) registrations_.push_back({thread, sequence, row});
  }
  // Returns pairs (row, time) of the calls so far, by row: the time of the invocation in nanoseconds after `began`, or
  // kForever if the callback was not invoked. A call is missing if its callback was not recorded.
  std::vector<int64_t> invoked(const capture::Definitions& definitions, int64_t began) const;

 private:
  static constexpr const char* kRegisteringFunction = "PJRT_Event_OnReady";

  struct Registration {
    uint32_t thread;
    uint64_t sequence;
    uint64_t row;
  };

  std::vector<capture::PendingCallback> pending_;
  std::vector<bool> registers_;  // by function
  std::vector<Registration> registrations_;
};

}  // namespace framedex::call_stream
