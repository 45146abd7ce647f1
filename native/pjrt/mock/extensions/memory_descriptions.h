// The MemoryDescriptions extension lists the memory spaces of device descriptions. It gives an ahead-of-time topology
// memories, so programs can be lowered and compiled for host memory.
#pragma once

#include "pjrt_c_api.h"

namespace framedex::mock {

PJRT_Extension_Base* memory_descriptions_extension();

}  // namespace framedex::mock
