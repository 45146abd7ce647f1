// The registered handlers with a trampoline, by slot.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "pjrt_c_api.h"

namespace framedex::ffi {

// The `ffi_call` lines known to call a target, as one text for a crash report. The texts live as long as the process.
struct TargetSites {
  std::atomic<const char*> text{nullptr};
};

// The data shared by the stages of one handler. Lives as long as the process.
struct Registration {
  const char* target;
  const TargetSites* sites;
  // The state type of the handler's own instantiate stage; 0: it creates no state, or there is no such stage.
  static constexpr int64_t kNotQueried = -1;
  std::atomic<int64_t> state_type{kNotQueried};
  // Whether framedex gives a custom call without its own state an instance as its state.
  bool has_instances = false;
  // Whether recordings with contents keep its results: it runs on the host and is not JAX's own.
  bool keeps_results = false;
};

struct Slot {
  XLA_FFI_Handler* handler;
  Registration* registration;
  uint32_t function;  // the recorder's function number
  XLA_FFI_ExecutionStage stage;
};

// A custom call of the untyped API. Its arguments depend on the call and the platform: at most five, each one word.
using UntypedHandler = void(void*, void*, void*, void*, void*);

struct UntypedSlot {
  UntypedHandler* handler;
  Registration* registration;
  uint32_t function;
};

constexpr size_t kSlots = 2048;
constexpr size_t kUntypedSlots = 512;
inline std::array<Slot, kSlots> slots;
inline std::array<UntypedSlot, kUntypedSlots> untyped_slots;

}  // namespace framedex::ffi
