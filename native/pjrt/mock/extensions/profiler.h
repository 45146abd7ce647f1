// The Profiler extension: jax.profiler.trace() shows which programs ran on the simulated devices.
#pragma once

#include "pjrt_c_api.h"

namespace framedex::mock {

PJRT_Extension_Base* profiler_extension();

}  // namespace framedex::mock
