// What a trampoline does: it records a run of the handler behind it, and passes everything on unchanged.
#pragma once

#include <array>

#include "ffi/slots.h"

namespace framedex::ffi {

// The values that a run is recorded with, by index.
enum RunValue : uint16_t { kArguments, kResults, kAttributes, kInstance, kSite, kDevice, kRunId, kIsAsynchronous };
constexpr std::array<const char*, 8> kRunValues = {"arguments", "results", "attributes", "instance",
                                                   "site",      "device",  "run_id",     "asynchronous"};

XLA_FFI_Error* run(Slot& slot, XLA_FFI_CallFrame* frame);
void run_untyped(UntypedSlot& slot, void* a, void* b, void* c, void* d, void* e);

}  // namespace framedex::ffi
