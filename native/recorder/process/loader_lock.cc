#include "recorder/process/loader_lock.h"

#include <mutex>
#include <new>

namespace framedex::recorder {
namespace {

// Never destroyed: calls come after static destructors.
std::recursive_mutex& mutex() {
  static auto* mutex = new std::recursive_mutex;
  return *mutex;
}

}  // namespace

void LoaderLock::lock() { mutex().lock(); }

void LoaderLock::unlock() { mutex().unlock(); }

void LoaderLock::renew_in_child() { new (&mutex()) std::recursive_mutex; }

}  // namespace framedex::recorder
