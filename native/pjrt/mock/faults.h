// Fault injection: a layer around the finished table, added only if rules request it (fault_rules.h).
#pragma once

#include <functional>

#include "pjrt/mock/machine/fault_rules.h"
#include "pjrt_c_api.h"

namespace framedex::mock {

// Returns `api` itself if the environment has no rules, else a table around it that applies the rules. Invalid rules
// cause no error here: check_faults() rejects them when the client is opened.
const PJRT_Api* add_fault_layer(const PJRT_Api* api);

// ---- For the generated wrappers (native/abi/generate_faults.py).

// Replaces every function of `wrapped` by a wrapper around the same function of `api`.
void wrap_with_faults(const PJRT_Api* api, PJRT_Api& wrapped);

// One call of a function of kFaultFunctions. The constructor counts it.
class FaultyCall {
 public:
  explicit FaultyCall(size_t function);

  // Returns the error of a call that works on a failed device; nullptr if there is none.
  PJRT_Error* device_failure(const std::function<bool(int device)>& works_on, bool is_execute);
  // Returns the error that a rule injects into this call; nullptr if there is none.
  PJRT_Error* failure();
  // Makes the event fail if a rule requests it. The event may be nullptr.
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
