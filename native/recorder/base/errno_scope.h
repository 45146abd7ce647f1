// errno as the program left it.
#pragma once

#include <cerrno>

namespace framedex::recorder {

// Restores errno at its end, whatever the calls in between set.
class ErrnoScope {
 public:
  ErrnoScope() : saved_(errno) {}
  ~ErrnoScope() { errno = saved_; }
  ErrnoScope(const ErrnoScope&) = delete;
  ErrnoScope& operator=(const ErrnoScope&) = delete;

 private:
  int saved_;
};

}  // namespace framedex::recorder
