// FFI handlers that hang: one computes with the GIL, one locks a mutex twice, two lock two mutexes in opposite order.
#include <atomic>
#include <mutex>

#include "xla/ffi/api/ffi.h"

extern "C" int PyGILState_Ensure();

namespace ffi = xla::ffi;

static std::mutex table;
static std::mutex log_file;
static std::atomic<int> arrived{0};

static ffi::Error HoldGil(ffi::AnyBuffer, ffi::Result<ffi::AnyBuffer>) {
  PyGILState_Ensure();
  for (volatile unsigned long rounds = 0;;) rounds = rounds + 1;
}

static ffi::Error LockTwice(ffi::AnyBuffer, ffi::Result<ffi::AnyBuffer>) {
  std::lock_guard<std::mutex> outer(table);
  std::lock_guard<std::mutex> inner(table);
  return ffi::Error::Success();
}

static void LockBoth(std::mutex& first, std::mutex& second) {
  std::lock_guard<std::mutex> outer(first);
  ++arrived;
  while (arrived < 2) {
  }
  std::lock_guard<std::mutex> inner(second);
}

static ffi::Error LockForward(ffi::AnyBuffer, ffi::Result<ffi::AnyBuffer>) {
  LockBoth(table, log_file);
  return ffi::Error::Success();
}

static ffi::Error LockBackward(ffi::AnyBuffer, ffi::Result<ffi::AnyBuffer>) {
  LockBoth(log_file, table);
  return ffi::Error::Success();
}

#define HANDLER(name) \
  XLA_FFI_DEFINE_HANDLER_SYMBOL(name##Handler, name, ffi::Ffi::Bind().Arg<ffi::AnyBuffer>().Ret<ffi::AnyBuffer>())

HANDLER(HoldGil);
HANDLER(LockTwice);
HANDLER(LockForward);
HANDLER(LockBackward);
