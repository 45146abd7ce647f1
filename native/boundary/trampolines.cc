#include "boundary/trampolines.h"

namespace framedex::boundary {

extern "C" __attribute__((visibility("hidden"))) const char framedex_boundary_trampolines[];

const void* trampoline(size_t index) {
  constexpr size_t kSize = 16;
  static_assert(kMaximumBoundaries == 256, ".rept in boundary_trampolines.cc writes these and the trampoline of dlsym");
  return framedex_boundary_trampolines + kSize * index;
}

}  // namespace framedex::boundary
