// C functions and FFI handlers in which a process waits or is killed by a signal.
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "xla/ffi/api/ffi.h"

namespace ffi = xla::ffi;

extern "C" {

__attribute__((noinline)) int wait_for_signal() { return pause() + 1; }

__attribute__((noinline)) int divide(int by) { return 100 / by; }

__attribute__((noinline)) int execute_illegal_instruction() { __builtin_trap(); }

__attribute__((noinline)) int overflow_stack(int depth) {
  volatile char page[65536];
  page[0] = static_cast<char>(depth);
  return overflow_stack(depth + 1) + page[0];
}

__attribute__((noinline)) int read_beyond_file(const char* file) {
  FILE* empty = fopen(file, "w");
  return *static_cast<volatile char*>(mmap(nullptr, 1, PROT_READ, MAP_SHARED, fileno(empty), 0));
}
}

static ffi::Error Wait(ffi::AnyBuffer, ffi::Result<ffi::AnyBuffer>) {
  wait_for_signal();
  return ffi::Error::Success();
}

static ffi::Error Divide(ffi::AnyBuffer x, ffi::Result<ffi::AnyBuffer>) {
  wait_for_signal();
  divide(static_cast<int>(x.dimensions().size()) - 1);
  return ffi::Error::Success();
}

#define HANDLER(name) \
  XLA_FFI_DEFINE_HANDLER_SYMBOL(name##Handler, name, ffi::Ffi::Bind().Arg<ffi::AnyBuffer>().Ret<ffi::AnyBuffer>())

HANDLER(Wait);
HANDLER(Divide);
