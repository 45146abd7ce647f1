// The lock under which the recorder asks the loader for the objects that are loaded.
#pragma once

namespace framedex::recorder {

// Whoever looks at the loader's list (dl_iterate_phdr, and with an older libgcc every search for unwind information)
// holds a lock of the C library's meanwhile. fork() copies that one as it is: if another thread holds it, it is locked
// for ever in the child, which then cannot even load a library. So the recorder looks under this lock, and a fork waits
// for it. A thread may take it again: a signal may come where it is held.
class LoaderLock {
 public:
  LoaderLock() { lock(); }
  ~LoaderLock() { unlock(); }
  LoaderLock(const LoaderLock&) = delete;
  LoaderLock& operator=(const LoaderLock&) = delete;

  // Around a fork, in the process that forks.
  static void lock();
  static void unlock();
  // After a fork, in the child.
  static void renew_in_child();
};

}  // namespace framedex::recorder
