// The lock under which the recorder asks the loader for the objects that are loaded.
#pragma once

namespace framedex::recorder {

// Whoever walks the loader's list (dl_iterate_phdr, and with an older libgcc every search for unwind information) holds
// a lock of the C library. fork() copies that lock as it is: where another thread holds it, it stays locked for ever in
// the child, which then cannot even load a library. So the recorder walks the list under this lock, and a fork waits
// for it. A thread may take it again, as the handler of a signal does that comes while it is held.
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
