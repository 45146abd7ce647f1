// Formats arguments, results and attributes of a handler's call: `f32[4,8], s32[]` and `eps=f32(1e-05), mode="fast"`.
#pragma once

#include <cstdint>
#include <string>

#include "pjrt_c_api.h"

namespace framedex::ffi {

struct CallText {
  uint64_t shapes;  // shapes_of() of the described frame
  std::string arguments;
  std::string results;
  std::string attributes;
};

CallText describe_call(const XLA_FFI_CallFrame& frame);

}  // namespace framedex::ffi
