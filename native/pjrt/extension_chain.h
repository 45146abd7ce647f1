// The extensions of a plug-in's table: a chain of traced copies of those that are known, and behind it the others.
#pragma once

#include "pjrt_c_api.h"

namespace framedex::pjrt {

// A copy of an extension in which every known function is traced, nullptr if its type is not known. Generated.
PJRT_Extension_Base* traced_extension(const PJRT_Extension_Base* plugin);

// The plug-in's chain, traced. Whoever looks for a type takes the first that has it, so the traced ones come first and
// an unknown one is passed on as it is, at its own address, whatever it keeps behind its struct_size. The copies live
// as long as the process, like the tables that they stand for.
PJRT_Extension_Base* traced_chain(PJRT_Extension_Base* first);

}  // namespace framedex::pjrt
