// The MemoryDescriptions extension tells the memory spaces of devices that are only described. With it an ahead-of-time
// topology has memories, so that programs can be lowered and compiled for host memory.
#pragma once

#include "pjrt_c_api.h"

namespace framedex::mock {

PJRT_Extension_Base* memory_descriptions_extension();

}  // namespace framedex::mock
