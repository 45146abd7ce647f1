// Whether the current thread runs the recorder's own code.
#pragma once

#include "recorder/base/export.h"

namespace framedex::recorder {

// While it is set, the thread's calls are not recorded. The user may name a function that the recorder calls itself,
// such as `malloc`, and a signal handler may interrupt the recorder. __thread, so that reading it calls no function.
FRAMEDEX_EXPORT extern __thread bool is_inside __attribute__((tls_model("initial-exec")));

class InsideScope {
 public:
  InsideScope() : before_(is_inside) { is_inside = true; }
  ~InsideScope() { is_inside = before_; }
  InsideScope(const InsideScope&) = delete;
  InsideScope& operator=(const InsideScope&) = delete;

 private:
  bool before_;
};

}  // namespace framedex::recorder
