// The rules of FRAMEDEX_FAIL: what is to fail, when, and how.
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

// A function of the PJRT table that rules may name; the list is generated (native/abi/generate_faults.py).
struct FaultFunction {
  const char* name;
  bool has_events;
};
extern const std::vector<FaultFunction> kFaultFunctions;

// Calls of a function that are to fail: number `first`, counted from 1, and with `onwards` all after it. With
// `is_event` the event that the call hands out fails in place of the call.
struct CallRule {
  size_t function;  // index in kFaultFunctions
  bool is_event;
  uint64_t first;
  bool onwards;
  Failure failure;
};

// A device on which everything fails, once this time has passed since the library was loaded and this many programs
// have run.
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

// Rules separated by semicolons, with N a number and MESSAGE optional:
//
//     PJRT_Client_Compile=RESOURCE_EXHAUSTED:MESSAGE      every call
//     PJRT_Client_BufferFromHostBuffer:3=INTERNAL         the third call; with :3+ the third and all after it
//     event:PJRT_Buffer_ReadyEvent:1=ABORTED              the event of the first call
//     device:2  device:2@100ms  device:2@5executes        UNAVAILABLE, or =CODE:MESSAGE
//
// Throws InvalidSetting, whose text says what can be written.
FaultRules parse_fault_rules(const std::string& text);

// The rules of FRAMEDEX_FAIL; none where it is not set. Throws InvalidSetting as above.
FaultRules fault_rules(const Environment& environment);
// Throws InvalidSetting where FRAMEDEX_FAIL makes no sense, or names a device that the machine does not have.
void check_faults(const Environment& environment, const Topology& machine);

}  // namespace framedex::mock
