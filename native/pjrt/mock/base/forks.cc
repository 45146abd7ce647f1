#include "pjrt/mock/base/forks.h"

#include <pthread.h>

namespace framedex::mock {

int fork_count() {
  static int forks = 0;
  static const int is_watched = pthread_atfork(nullptr, nullptr, [] { ++forks; });
  static_cast<void>(is_watched);
  return forks;
}

}  // namespace framedex::mock
