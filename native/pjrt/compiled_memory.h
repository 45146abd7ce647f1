// The memory of compiled programs, queried from the plug-in right after a compilation or load.
#pragma once

#include <cstdint>

#include "pjrt_c_api.h"
#include "recorder/recorder.h"

namespace framedex::pjrt {

// Writes the sizes that the plug-in reports for an executable, in bytes, as one text: `temporaries=512, peak=1024`. If
// it has temporaries, keeps its optimised program, and writes the name of that file as the next field. Writes nothing
// if the plug-in does not report sizes. These calls of framedex are not recorded.
void compiled_memory(recorder::ArgumentWriter& writer, uint16_t field, PJRT_Executable* executable,
                     const PJRT_Api* plugin);
void compiled_memory(recorder::ArgumentWriter& writer, uint16_t field, PJRT_LoadedExecutable* loaded,
                     const PJRT_Api* plugin);

}  // namespace framedex::pjrt
