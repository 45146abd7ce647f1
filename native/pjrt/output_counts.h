// The output counts of loaded executables, which the arguments of PJRT_LoadedExecutable_Execute do not include.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>

#include "pjrt_c_api.h"

namespace framedex::pjrt {

// Queries the plug-in once per executable. Look-up takes no lock and allocates nothing. Entries are reused and never
// freed. Constant-initialised: an executable may be destroyed after the process's static destructors.
class OutputCounts {
 public:
  // Returns the count; 0 if the plug-in does not report it, so that lists of outputs are not read.
  size_t find_or_query(PJRT_LoadedExecutable* executable, const PJRT_Api* plugin);
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
