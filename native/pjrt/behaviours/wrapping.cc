#include "pjrt/behaviours/wrapping.h"

#include <cstdio>
#include <string>

#include "pjrt/behaviours/dispatch.h"
#include "pjrt/behaviours/helpers.h"
#include "pjrt/behaviours/table.h"
#include "pjrt/behaviours/watched_call.h"
#include "pjrt/mock/base/python.h"

namespace framedex::behaviours {
namespace {

namespace python = mock::python;

// Whether another thread waits for this function and holds the GIL: jaxlib 0.10 does when it compiles for a topology.
bool has_caller_waiting_with_gil(size_t function) {
  return kFunctions[function].offset == offsetof(PJRT_Api, PJRT_Compile);
}

PJRT_Error* run_on_this_thread(size_t function, void* arguments, bool has_gil) {
  WatchedCall call(function, arguments, &call_default, has_gil);
  if (DispatchEntry entrance; entrance) {
    python::Gil gil;
    dispatch(call);
  }
  return call.settle(arguments);
}

struct Allocation {
  AllocateArguments arguments;
  void* memory;
  Take take;
};

PJRT_Error* take_memory(size_t, void* arguments) {
  auto* allocation = static_cast<Allocation*>(arguments);
  allocation->arguments.address = allocation->take(allocation->memory, allocation->arguments.bytes);
  if (allocation->arguments.address != nullptr) return nullptr;
  return make_error({PJRT_Error_Code_RESOURCE_EXHAUSTED, "no free block is large enough"});
}

thread_local std::string refusal;

}  // namespace

PJRT_Error* wrapped_call(size_t function, void* arguments, size_t size) {
  if (inside_behaviour() || !can_dispatch()) return call_default(function, arguments);
  bool has_gil = python::has_gil();
  if (has_gil) return run_on_this_thread(function, arguments, true);
  if (kFunctions[function].takes_only_values) return run_on_helper(function, arguments, size);
  if (has_caller_waiting_with_gil(function)) return run_on_helper(function, arguments, 0);
  return run_on_this_thread(function, arguments, false);
}

void discard(PJRT_Error* error, size_t function) {
  if (error == nullptr) return;
  Failure failure = read_error(*table_below(), error);
  std::fprintf(stderr, "framedex: %s cannot return an error, so it is printed here: %s\n", name_of(function),
               failure.message.c_str());
  destroy_error(*table_below(), error);
}

void* allocate(int device, int64_t bytes, void* memory, Take take, GiveBack give_back) {
  refusal.clear();
  if (!is_watched(allocate_number()) || inside_behaviour() || table_below() == nullptr || !can_dispatch()) {
    return take(memory, bytes);
  }
  Allocation allocation{{offsetof(AllocateArguments, address), bytes, device, nullptr}, memory, take};
  WatchedCall call(allocate_number(), &allocation, &take_memory, python::has_gil());
  if (DispatchEntry entrance; entrance) {
    python::Gil gil;
    dispatch(call);
  }
  if (!call.is_decided()) return take(memory, bytes);
  PJRT_Error* error = call.take_error();
  if (error == nullptr && allocation.arguments.address == nullptr) {
    allocation.arguments.address = take(memory, bytes);  // the behaviour provided no memory
  }
  if (error == nullptr) return allocation.arguments.address;
  if (allocation.arguments.address != nullptr) give_back(memory, allocation.arguments.address);
  refusal = read_error(*table_below(), error).message;
  destroy_error(*table_below(), error);
  return nullptr;
}

const char* refusal_reason() { return refusal.empty() ? nullptr : refusal.c_str(); }

}  // namespace framedex::behaviours
