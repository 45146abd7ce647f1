// The C interface of libframedex_boundary.so. A recorded Python calls it at startup (sitecustomize.py).
#include <cstdlib>

#include "boundary/patching.h"

extern "C" {

// Records the boundaries in FRAMEDEX_BOUNDARIES from now on. With `reports_missing`, reports at process exit the
// functions that no loaded library has.
FRAMEDEX_EXPORT void framedex_boundary_install(bool reports_missing) {
  const char* text = std::getenv("FRAMEDEX_BOUNDARIES");
  if (text == nullptr || *text == '\0') return;
  framedex::recorder::start_from_environment();
  framedex::boundary::install(framedex::boundary::parse_boundaries(text), reports_missing);
}
}
