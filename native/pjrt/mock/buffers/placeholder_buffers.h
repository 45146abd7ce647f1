// Buffers that hold nothing yet, or never will: those that wait for another buffer, and those that are an error.
#pragma once

#include "pjrt_c_api.h"

namespace framedex::mock {

void add_placeholder_buffer_functions(PJRT_Api& api);

}  // namespace framedex::mock
