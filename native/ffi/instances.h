// Tells apart the custom calls of compiled programs: each is instantiated once, and run as that instance.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ffi/call_text.h"
#include "ffi/slots.h"

namespace framedex::ffi {

// A custom call of a loaded executable. The executable owns it, but where the handler makes a state of its own.
struct Instance {
  uint64_t id;  // from 1, in the order of instantiation over all threads
  const char* target;
  uint64_t thread;                         // that instantiated it
  const char* attributes;                  // as call_text.h has it; lives as long as the process
  std::atomic<uint64_t> site{0};           // the ffi_call that it came from; 0: not known
  std::atomic<const char*> line{nullptr};  // of the site, for a report
  std::atomic<const CallText*> text{nullptr};
  bool is_joined = false;
  // A part of a host callback, to which its caller gave the attribute `framedex_callback`: runs of the part in which
  // Python is called are recorded under the callback's name, those of the others not at all.
  const bool is_of_callback;
  const std::optional<uint32_t> callback;  // the recorder's number of its function

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

// Whether XLA only asks a handler about itself, as it does when the handler is registered.
inline bool is_metadata_query(const XLA_FFI_CallFrame& frame) {
  return frame.extension_start != nullptr && frame.extension_start->type == XLA_FFI_Extension_Metadata;
}

// The instantiate stage for a handler that has none: makes the instance, and answers the query for metadata.
XLA_FFI_Error* instantiate(Slot& slot, XLA_FFI_CallFrame* frame);
// Makes the instance of a custom call after its handler's own instantiate stage has run. Where that made a state, the
// instance is found by the state's address. Returns nullptr where there is no instance.
const Instance* note_instantiation(const Slot& slot, const XLA_FFI_CallFrame& frame);
// The instance that is being run, nullptr if it is not known.
Instance* instance_of(const Slot& slot, const XLA_FFI_CallFrame& frame);

// The instances with numbers above `mark` that are still loaded and whose site is not known, in the order of their
// numbers.
struct InstanceEntry {
  uint64_t id;
  uint64_t thread;
  const char* target;
  const char* attributes;
};
std::vector<InstanceEntry> instances_after(uint64_t mark);
// The number of the newest instance, 0 if there is none.
uint64_t last_instance();
// Says which site an instance came from (0: from none, or it is not certain which), and its line for a report.
void join(uint64_t id, uint64_t site, const std::string& line, bool is_certain);

}  // namespace framedex::ffi
