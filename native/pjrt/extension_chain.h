// The extension chain of a plug-in's table: traced copies of the known extensions, followed by the others.
#pragma once

#include "pjrt_c_api.h"

namespace framedex::pjrt {

// Returns a copy of an extension in which every known function is traced; nullptr for an unknown type. Generated.
PJRT_Extension_Base* traced_extension(const PJRT_Extension_Base* plugin);

// Returns the plug-in's chain, traced. A look-up takes the first extension of its type, so traced copies come first.
// Unknown extensions are passed on at their own address, with all bytes behind their struct_size. Copies live as long
// as the process, like the tables.
PJRT_Extension_Base* traced_chain(PJRT_Extension_Base* first);

}  // namespace framedex::pjrt
