// The memory of compiled programs, asked of the plug-in right after a compilation or load.
#pragma once

#include <cstdint>

#include "pjrt_c_api.h"
#include "recorder/recorder.h"

namespace framedex::pjrt {

// Writes the sizes that the plug-in reports for an executable, in bytes, as one text: `temporaries=512, peak=1024`.
// Writes nothing if the plug-in does not report them. These calls of framedex are not recorded.
void memory_sizes(recorder::ArgumentWriter& writer, uint16_t field, PJRT_Executable* executable,
                  const PJRT_Api* plugin);
void memory_sizes(recorder::ArgumentWriter& writer, uint16_t field, PJRT_LoadedExecutable* loaded,
                  const PJRT_Api* plugin);

// Keeps the optimised program of an executable with temporaries, and writes its file name in the capture.
void optimized_kept(recorder::ArgumentWriter& writer, uint16_t field, PJRT_Executable* executable,
                    const PJRT_Api* plugin);
void optimized_kept(recorder::ArgumentWriter& writer, uint16_t field, PJRT_LoadedExecutable* loaded,
                    const PJRT_Api* plugin);

}  // namespace framedex::pjrt
