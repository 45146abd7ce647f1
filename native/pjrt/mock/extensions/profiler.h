// The Profiler extension: with it jax.profiler.trace() shows the programs that ran on simulated devices.
#pragma once

#include "pjrt_c_api.h"

namespace framedex::mock {

PJRT_Extension_Base* profiler_extension();

}  // namespace framedex::mock
