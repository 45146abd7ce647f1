// The Layouts extension says which layouts buffers, parameters and results have, and which are the default ones. With
// it JAX accepts arrays and programs with layouts of the user's choice.
#pragma once

#include "pjrt_c_api.h"

namespace framedex::mock {

PJRT_Extension_Base* layouts_extension();

}  // namespace framedex::mock
