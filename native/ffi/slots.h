// The registered handlers that have a trampoline, by slot.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "pjrt_c_api.h"

namespace framedex::ffi {

// The `ffi_call` lines that called a target so far, as one text for a report. The texts live as long as the process.
struct TargetSites {
  std::atomic<const char*> text{nullptr};
};

// What the stages of one handler have in common. Lives as long as the process.
struct Registration {
  const char* target;
  const TargetSites* sites;
  // The type of the state that the handler's own instantiate stage makes; 0: it makes none, or there is no such stage.
  static constexpr int64_t kNotAsked = -1;
  std::atomic<int64_t> state_type{kNotAsked};
  // Whether a custom call without a state of its own gets one from us: its instance.
  bool has_instances = false;
};

struct Slot {
  XLA_FFI_Handler* handler;
  Registration* registration;
  uint32_t function;  // the recorder's number
  XLA_FFI_ExecutionStage stage;
};

// A custom call of the API before the typed one. What its arguments are depends on the call and on the platform; no
// call has more than five, all of them words.
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
