// The extension chain of a plug-in's table: traced copies of the known extensions, followed by the others.
#pragma once

#include <cstddef>
#include <vector>

#include "pjrt_c_api.h"

namespace framedex::pjrt {

// A larger table of functions is malformed: the largest one has 1,144 bytes.
inline constexpr size_t kMaximumTableSize = 1 << 16;

// Returns the extensions of a chain, each once: a malformed chain may have no end.
std::vector<PJRT_Extension_Base*> extensions_of(PJRT_Extension_Base* first);

// Returns a copy of an extension in which every known function is traced; nullptr for an unknown type. Generated.
PJRT_Extension_Base* traced_extension(const PJRT_Extension_Base* plugin);

// Returns the plug-in's chain, traced. A look-up takes the first extension of its type, so traced copies come first.
// Unknown extensions are passed on at their own address, with all bytes behind their struct_size. Copies live as long
// as the process, like the tables.
PJRT_Extension_Base* traced_chain(PJRT_Extension_Base* first);

}  // namespace framedex::pjrt
