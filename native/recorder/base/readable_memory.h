// Memory that may be unmapped.
#pragma once

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace framedex::recorder {

// Whether a page is readable: the kernel reads a signal mask there, then rejects the operation on it. As in Abseil's
// AddressIsReadable: a quarter of the time of process_vm_readv. Sets errno.
inline bool is_readable_page(const void* address) {
  constexpr uintptr_t kMaskSize = 8;
  constexpr int kNoOperation = -1;
  uintptr_t mask = reinterpret_cast<uintptr_t>(address) & ~(kMaskSize - 1);
  return mask != 0 && syscall(SYS_rt_sigprocmask, kNoOperation, mask, nullptr, kMaskSize) != 0 && errno == EINVAL;
}

// Copies the readable bytes at the start of `source`, and returns their number. No other thread may unmap them
// meanwhile. Async-signal-safe, but sets errno.
inline size_t copy_readable(const void* source, void* target, size_t size) {
  constexpr size_t kPage = 4096;
  size_t copied = 0;
  while (copied < size) {
    const char* from = static_cast<const char*>(source) + copied;
    if (!is_readable_page(from)) break;
    size_t count = std::min(size - copied, kPage - reinterpret_cast<uintptr_t>(from) % kPage);
    std::memcpy(static_cast<char*>(target) + copied, from, count);
    copied += count;
  }
  return copied;
}

}  // namespace framedex::recorder
