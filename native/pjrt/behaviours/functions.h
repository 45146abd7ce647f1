// The functions that behaviours may stand in for: those of the PJRT table, and the mock's allocation of device memory.
#pragma once

#include <cstddef>
#include <vector>

#include "pjrt_c_api.h"

namespace framedex::behaviours {

// Any function of the table. What it points to takes its own argument struct; where `returns_error` is false it
// returns nothing.
using Entry = PJRT_Error* (*)(void* arguments);

struct Function {
  const char* name;
  size_t offset;  // of its entry in PJRT_Api
  Entry wrapper;  // what asks for behaviours first
  bool returns_error;
  bool takes_only_values;  // a copy of its argument struct has all that it is given: handles, numbers, callbacks
};

// Generated (native/abi/generate_behaviours.py), in the order of the table. A function's number is its index here.
extern const std::vector<Function> kFunctions;

// The function that is none of the table's, behind those: DeviceMemory::Allocate.
inline size_t allocate_number() { return kFunctions.size(); }
constexpr char kAllocateName[] = "DeviceMemory::Allocate";

// Its arguments. The result is the address.
struct AllocateArguments {
  size_t struct_size;
  int64_t bytes;
  int device;
  void* address;
};

inline const char* name_of(size_t function) {
  return function == allocate_number() ? kAllocateName : kFunctions[function].name;
}

}  // namespace framedex::behaviours
