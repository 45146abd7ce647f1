// Detects that this process was forked from the process that created an object. In the child, threads that no longer
// exist may hold the object's locks forever, and jaxlib's CPU client has lost its threads.
#pragma once

namespace framedex::mock {

// Returns the number of forks between the process that loaded the library and this one.
int fork_count();

// Remembers the process that created it.
class ProcessOwner {
 public:
  ProcessOwner() : forks_(fork_count()) {}
  explicit operator bool() const { return forks_ == fork_count(); }

 private:
  int forks_;
};

}  // namespace framedex::mock
