// The lock that the recorder takes before it queries the loader.
#pragma once

#include "recorder/base/export.h"

namespace framedex::recorder {

// Walking the loader's list takes a lock of the C library: dl_iterate_phdr does, and with an older libgcc every search
// for unwind information. If another thread holds that lock during a fork, it stays locked in the child, which then
// cannot even load a library. So the recorder walks the list under LoaderLock, and a fork waits for LoaderLock. The
// lock is recursive: a signal handler may interrupt its holder and take it again.
class LoaderLock {
 public:
  LoaderLock() { lock(); }
  ~LoaderLock() { unlock(); }
  LoaderLock(const LoaderLock&) = delete;
  LoaderLock& operator=(const LoaderLock&) = delete;

  // Called around a fork, in the parent.
  FRAMEDEX_EXPORT static void lock();
  FRAMEDEX_EXPORT static void unlock();
  // Called after a fork, in the child.
  static void renew_in_child();
};

}  // namespace framedex::recorder
