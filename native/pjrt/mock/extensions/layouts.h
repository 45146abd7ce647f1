// The Layouts extension returns the layouts of buffers, parameters and results, and the default layouts. JAX requires
// it for arrays and programs with user-defined layouts.
#pragma once

#include "pjrt_c_api.h"

namespace framedex::mock {

PJRT_Extension_Base* layouts_extension();

}  // namespace framedex::mock
