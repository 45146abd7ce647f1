// How many outputs loaded executables have: the arguments of PJRT_LoadedExecutable_Execute do not say it.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>

#include "pjrt_c_api.h"

namespace framedex::pjrt {

// Asks the plug-in once for each executable. Looking up takes no lock and allocates nothing; entries are used again and
// never freed. Constant-initialized: an executable may be destroyed after the process's static destructors have run.
class OutputCounts {
 public:
  // 0 where the plug-in does not say: then nothing is read from the lists of outputs.
  size_t of(PJRT_LoadedExecutable* executable, const PJRT_Api* plugin);
  // Has to come before the executable is destroyed: its address may belong to another one right after that.
  void forget(PJRT_LoadedExecutable* executable);

 private:
  struct Entry {
    std::atomic<const void*> executable{nullptr};
    std::atomic<size_t> count{0};
    Entry* next = nullptr;
  };
  static constexpr size_t kBuckets = 1024;

  std::atomic<Entry*>& bucket(const void* executable);
  Entry* find(const void* executable);
  void add(const void* executable, size_t count);

  std::array<std::atomic<Entry*>, kBuckets> buckets_{};
};

}  // namespace framedex::pjrt
