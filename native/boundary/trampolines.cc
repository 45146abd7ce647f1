#include "boundary/trampolines.h"

namespace framedex::boundary {

extern "C" __attribute__((visibility("hidden"))) const char framedex_boundary_trampolines[];

const void* trampoline(size_t index) {
  constexpr size_t kSize = 16;
  static_assert(kMaximumBoundaries == 256, "as .rept has it, with that of dlsym");
  return framedex_boundary_trampolines + kSize * index;
}

}  // namespace framedex::boundary
