// Programs that were compiled, as jaxlib holds them.
#pragma once

#include <string_view>

#include "tpu_legacy/program.h"

namespace framedex::tpu_legacy {

// An executable with results of this shape, made from this module.
SE_Executable* new_executable(Program program, const XLA_Shape& result, std::string_view module);

}  // namespace framedex::tpu_legacy
