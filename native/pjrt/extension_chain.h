// The extension chain of a plug-in's table: traced copies of the known extensions, followed by the others.
#pragma once

#include <cstddef>
#include <vector>

#include "pjrt_c_api.h"

namespace framedex::pjrt {

// The maximum size of a table of functions. A larger table is malformed: the largest known table has 1,144 bytes.
inline constexpr size_t kMaximumTableSize = 1 << 16;

// Returns the extensions of a chain, each once: a malformed chain may have no end.
std::vector<PJRT_Extension_Base*> extensions_of(PJRT_Extension_Base* first);

// Returns a copy of an extension in which every known function is traced; nullptr for an unknown type.
using TraceExtension = PJRT_Extension_Base* (*)(const PJRT_Extension_Base* plugin);

// Returns the plug-in's chain, traced. A look-up finds the first extension of a type, so traced copies come first.
// Unknown extensions keep their address, and so all bytes after their struct_size. Copies live as long as the process,
// like the tables.
PJRT_Extension_Base* traced_chain(PJRT_Extension_Base* first, TraceExtension trace_extension);

}  // namespace framedex::pjrt
