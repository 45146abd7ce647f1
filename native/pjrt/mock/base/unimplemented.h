// The default of every table entry that the mock does not implement.
#pragma once

#include "pjrt_c_api.h"

namespace framedex::mock {

// Returns an UNIMPLEMENTED error with the function's name.
PJRT_Error* unimplemented(const char* function);

// Returns a table in which every entry returns unimplemented().
PJRT_Api unimplemented();

}  // namespace framedex::mock
