// The C interface of libframedex_ffi.so. Its Python half, framedex_native.ffi, calls it through ctypes.
#include <algorithm>
#include <cstring>

#include "ffi/crash_report.h"
#include "ffi/instances.h"
#include "ffi/wrapping.h"
#include "recorder/recorder.h"

namespace ffi = framedex::ffi;

extern "C" {

// The handlers of a target's stages, from instantiate to execute; nullptr for a missing stage.
struct FramedexFfiStages {
  XLA_FFI_Handler_Bundle handlers;
};

// Replaces the handlers by their trampolines. Returns false, and changes nothing, if no trampolines are left.
FRAMEDEX_EXPORT bool framedex_ffi_wrap(const char* target, FramedexFfiStages* stages, bool has_instances,
                                       bool keeps_results) {
  auto trampolines = ffi::wrap(target, stages->handlers, has_instances, keeps_results);
  if (trampolines) stages->handlers = *trampolines;
  return trampolines.has_value();
}

// Like framedex_ffi_wrap, for a custom call of the untyped API. Returns nullptr if no trampolines are left.
FRAMEDEX_EXPORT void* framedex_ffi_wrap_untyped(const char* target, void* handler) {
  auto trampoline = ffi::wrap_untyped(target, reinterpret_cast<ffi::UntypedHandler*>(handler));
  return trampoline ? reinterpret_cast<void*>(*trampoline) : nullptr;
}

FRAMEDEX_EXPORT void framedex_ffi_add_site(const char* target, const char* line) { ffi::add_site(target, line); }

FRAMEDEX_EXPORT uint64_t framedex_ffi_last_instance() { return ffi::last_instance_id(); }

// Writes the instances after `mark`, at most `capacity` of them. Returns their total number.
FRAMEDEX_EXPORT size_t framedex_ffi_instances_after(uint64_t mark, ffi::InstanceEntry* entries, size_t capacity) {
  auto found = ffi::instances_after(mark);
  std::copy_n(found.begin(), std::min(capacity, found.size()), entries);
  return found.size();
}

FRAMEDEX_EXPORT void framedex_ffi_join(uint64_t instance, uint64_t site, const char* line, bool is_certain) {
  ffi::join(instance, site, line, is_certain);
}

FRAMEDEX_EXPORT bool framedex_ffi_describe(const char* kind, const char* json) {
  return framedex::recorder::describe(kind, json);
}

FRAMEDEX_EXPORT bool framedex_ffi_describe_once(const char* kind, const char* json) {
  return framedex::recorder::describe_once(kind, json);
}

// Sets the note, a JSON object, for the next program that this thread compiles or loads.
FRAMEDEX_EXPORT void framedex_ffi_note(const char* json) { framedex::recorder::note(json); }

// Starts the recording that the environment requests, even if no handler ever runs.
FRAMEDEX_EXPORT void framedex_ffi_start_recording() { framedex::recorder::start_from_environment(); }

FRAMEDEX_EXPORT void framedex_ffi_install_crash_report() { ffi::install_crash_report(); }

}  // extern "C"
