// Compiled programs, as jaxlib holds them.
#pragma once

#include <string_view>

#include "tpu_legacy/program.h"

namespace framedex::tpu_legacy {

// Creates an executable from this module, with results of this shape.
SE_Executable* new_executable(Program program, const XLA_Shape& result, std::string_view module);

}  // namespace framedex::tpu_legacy
