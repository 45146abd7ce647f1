// A library that calls `memcpy` through a lazy slot; with OLD defined an older version of it, another function.
#include <cstddef>

extern "C" {
void* copy_bytes(void* to, const void* from, size_t size);
#ifdef OLD
asm(".symver copy_bytes, memcpy@GLIBC_2.2.5");
#else
asm(".symver copy_bytes, memcpy@GLIBC_2.14");
#endif

int copy(int size) {
  char from[64] = {7};
  char to[64];
  copy_bytes(to, from, static_cast<size_t>(size));
  return to[0];
}
}
