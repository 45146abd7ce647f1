// The native code that depends on the processor: see README.md.
#pragma once

#if defined(__x86_64__)
#include "architecture/x86_64/machine.h"
#elif defined(__aarch64__)
#include "architecture/aarch64/machine.h"
#else
#error "framedex's native part is for x86-64 and AArch64."
#endif
