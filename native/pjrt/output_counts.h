// The output counts of loaded executables: the arguments of PJRT_LoadedExecutable_Execute do not include them.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>

#include "pjrt_c_api.h"

namespace framedex::pjrt {

// Asks the plug-in once per executable. Look-up takes no lock and allocates nothing. Entries are reused and never
// freed. Constant-initialised: an executable may be destroyed after the process's static destructors.
class OutputCounts {
 public:
  // Returns 0 if the plug-in does not report the count; lists of outputs are then not read.
  size_t of(PJRT_LoadedExecutable* executable, const PJRT_Api* plugin);
  // Call before the executable is destroyed: its address may be reused right after.
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
