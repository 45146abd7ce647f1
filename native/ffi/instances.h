// Distinguishes the custom calls of compiled programs. Each is instantiated once, and its runs belong to that instance.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ffi/call_text.h"
#include "ffi/slots.h"

namespace framedex::ffi {

// A custom call of a loaded executable. The executable owns it, unless the handler creates a state of its own.
struct Instance {
  uint64_t id;  // from 1, in the order of instantiation across threads
  const char* target;
  uint64_t thread;                         // the thread that instantiated it
  const char* attributes;                  // formatted by call_text.h; lives as long as the process
  std::atomic<uint64_t> site{0};           // the ffi_call that created it; 0: unknown
  std::atomic<const char*> line{nullptr};  // the site's line, for a crash report
  std::atomic<const CallText*> text{nullptr};
  bool is_joined = false;
  // Whether this custom call is part of a host callback (attribute `framedex_callback`). The part that calls Python is
  // recorded under the callback's name; the other parts are not recorded.
  const bool is_of_callback;
  const std::optional<uint32_t> callback;  // the recorder's function number

  Instance(uint64_t id, const char* target, uint64_t thread, const char* attributes, bool is_of_callback,
           std::optional<uint32_t> callback)
      : id(id),
        target(target),
        thread(thread),
        attributes(attributes),
        is_of_callback(is_of_callback),
        callback(callback) {}
  ~Instance() { delete text.load(); }
};

// Returns whether this call is only XLA's metadata query, for example at registration.
inline bool is_metadata_query(const XLA_FFI_CallFrame& frame) {
  return frame.extension_start != nullptr && frame.extension_start->type == XLA_FFI_Extension_Metadata;
}

// The instantiate stage for a handler without one: creates the instance, and answers the metadata query.
XLA_FFI_Error* instantiate(Slot& slot, XLA_FFI_CallFrame* frame);
// Creates the instance of a custom call after the handler's own instantiate stage. If that stage created a state, the
// state's address identifies the instance. Returns nullptr if there is no instance.
const Instance* note_instantiation(const Slot& slot, const XLA_FFI_CallFrame& frame);
// Returns the running instance, nullptr if unknown.
Instance* find_running_instance(const Slot& slot, const XLA_FFI_CallFrame& frame);

// A loaded instance without a certain site.
struct InstanceEntry {
  uint64_t id;
  uint64_t thread;
  const char* target;
  const char* attributes;
};
// Returns the instances with ids above `mark`, in the order of their ids.
std::vector<InstanceEntry> instances_after(uint64_t mark);
// Returns the id of the newest instance, 0 if there is none.
uint64_t last_instance_id();
// Sets the site of an instance, and the site's line for a crash report. Site 0: none, or uncertain.
void join(uint64_t id, uint64_t site, const std::string& line, bool is_certain);

}  // namespace framedex::ffi
