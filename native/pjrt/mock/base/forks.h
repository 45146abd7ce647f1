// Tells whether this process was forked off from the one that something was made in: then its locks may be held for
// ever by threads that are not there any more, and jaxlib's CPU client has lost its own.
#pragma once

namespace framedex::mock {

// How often the processes that this one comes from were forked off, since the library was loaded.
int fork_count();

// Remembers the process it is made in.
class MadeHere {
 public:
  MadeHere() : forks_(fork_count()) {}
  explicit operator bool() const { return forks_ == fork_count(); }

 private:
  int forks_;
};

}  // namespace framedex::mock
