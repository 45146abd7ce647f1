// The rules of FRAMEDEX_FAIL: the calls to fail, when, and with which error.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "pjrt/mock/machine/settings.h"
#include "pjrt/mock/machine/topology.h"
#include "pjrt_c_api.h"

namespace framedex::mock {

struct Failure {
  PJRT_Error_Code code;
  std::string message;
};

// A function of the PJRT table that rules may name. The list is generated (native/abi/generate_faults.py).
struct FaultFunction {
  const char* name;
  bool has_events;
};
extern const std::vector<FaultFunction> kFaultFunctions;

// Fails call number `first` of a function, counted from 1, and with `onwards` all later ones. With `is_event` the call
// succeeds and its event fails.
struct CallRule {
  size_t function;  // index in kFaultFunctions
  bool is_event;
  uint64_t first;
  bool onwards;
  Failure failure;
};

// Fails everything on a device, once this time has passed since the library was loaded and this many programs have run.
struct DeviceRule {
  int device;
  std::chrono::milliseconds after;
  uint64_t executes;
  Failure failure;
};

struct FaultRules {
  std::vector<CallRule> calls;
  std::vector<DeviceRule> devices;
};

// Parses rules separated by semicolons. MESSAGE is optional:
//
//     PJRT_Client_Compile=RESOURCE_EXHAUSTED:MESSAGE      every call
//     PJRT_Client_BufferFromHostBuffer:3=INTERNAL         the third call; with :3+ also all later ones
//     event:PJRT_Buffer_ReadyEvent:1=ABORTED              the event of the first call
//     device:2  device:2@100ms  device:2@5executes        UNAVAILABLE, or =CODE:MESSAGE
//
// Throws InvalidSetting, whose text explains the syntax.
FaultRules parse_fault_rules(const std::string& text);

// Parses FRAMEDEX_FAIL; no rules if it is not set. Throws InvalidSetting as above.
FaultRules fault_rules(const Environment& environment);
// Throws InvalidSetting if FRAMEDEX_FAIL is malformed or names a device that the machine does not have.
void check_faults(const Environment& environment, const Topology& machine);

}  // namespace framedex::mock
