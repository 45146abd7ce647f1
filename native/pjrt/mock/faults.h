// Failures on demand: a layer around the finished table, there only when rules ask for it (fault_rules.h).
#pragma once

#include <functional>

#include "pjrt/mock/machine/fault_rules.h"
#include "pjrt_c_api.h"

namespace framedex::mock {

// Returns `api` itself if this process's environment has no rules, else a table around it that follows them. Rules that
// make no sense fail nothing here: check_faults() refuses them when the client is opened.
const PJRT_Api* with_faults(const PJRT_Api* api);

// The rest is for the generated wrappers (native/abi/generate_faults.py).

// Replaces every function of `wrapped` by a wrapper around that of `api`.
void wrap_with_faults(const PJRT_Api* api, PJRT_Api& wrapped);

// One call of a function of kFaultFunctions. Counts it.
class FaultyCall {
 public:
  explicit FaultyCall(size_t function);

  // The error with which the call is to fail because it works on a failed device; nullptr: none.
  PJRT_Error* device_failure(const std::function<bool(int device)>& works_on, bool is_execute);
  // The error that a rule has for this call; nullptr: none.
  PJRT_Error* failure();
  // Makes the event end with an error if a rule says so. It may be nullptr.
  void fail_event(PJRT_Event*& event);

 private:
  size_t function_;
  uint64_t number_;
};

bool is_on(const PJRT_Api& api, const PJRT_Device* place, int device);
bool is_on(const PJRT_Api& api, const PJRT_Memory* place, int device);
bool is_on(const PJRT_Api& api, const PJRT_Buffer* place, int device);
bool is_on(const PJRT_Api& api, PJRT_LoadedExecutable* place, int device);

}  // namespace framedex::mock
