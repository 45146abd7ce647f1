// Gives the handlers that are registered their trampolines.
#pragma once

#include <optional>
#include <string>

#include "ffi/slots.h"

namespace framedex::ffi {

// The trampolines of a target's handlers, stage by stage. The same handlers get the same trampolines: XLA takes a
// second registration of a target only with the addresses of the first. Nothing when there are no slots left.
//
// With `has_instances`, a target without an instantiate stage gets one, so that its custom calls can be told apart.
std::optional<XLA_FFI_Handler_Bundle> wrap(const std::string& target, const XLA_FFI_Handler_Bundle& handlers,
                                           bool has_instances);
std::optional<UntypedHandler*> wrap_untyped(const std::string& target, UntypedHandler* handler);

// Adds a line, such as `train.py:12 in step`, to those that are known to call the target.
void add_site(const std::string& target, const std::string& line);

}  // namespace framedex::ffi
