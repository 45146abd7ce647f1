// The answer of every table entry that the mock does not implement.
#pragma once

#include "pjrt_c_api.h"

namespace framedex::mock {

// UNIMPLEMENTED with the function's name.
PJRT_Error* unimplemented(const char* function);

// A table that has every entry, and each answers unimplemented().
PJRT_Api unimplemented();

}  // namespace framedex::mock
