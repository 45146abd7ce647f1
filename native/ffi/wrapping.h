// Replaces registered handlers by their trampolines.
#pragma once

#include <optional>
#include <string>

#include "ffi/slots.h"

namespace framedex::ffi {

// Returns the trampolines of a target's handlers, by stage; nothing if no slots are left. Equal handlers get equal
// trampolines, because XLA accepts a second registration of a target only with the same addresses.
//
// With `has_instances`, a target without an instantiate stage gets one, so that its custom calls can be distinguished.
std::optional<XLA_FFI_Handler_Bundle> wrap(const std::string& target, const XLA_FFI_Handler_Bundle& handlers,
                                           bool has_instances, bool keeps_results);
std::optional<UntypedHandler*> wrap_untyped(const std::string& target, UntypedHandler* handler);

// Adds a line, such as `train.py:12 in step`, to the known callers of the target.
void add_site(const std::string& target, const std::string& line);

}  // namespace framedex::ffi
