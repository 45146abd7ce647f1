// Buffers without content: aliases of a buffer to be provided later, and buffers that hold an error.
#pragma once

#include "pjrt_c_api.h"

namespace framedex::mock {

void add_placeholder_buffer_functions(PJRT_Api& api);

}  // namespace framedex::mock
