#include "pjrt/output_counts.h"

#include <cstdint>

#include "pjrt/inner_executable.h"
#include "pjrt/traced_call.h"

namespace framedex::pjrt {
namespace {

// Placeholder for the executable's address while a reused entry is filled.
const char kBeingFilled = 0;

bool query(PJRT_LoadedExecutable* loaded, const PJRT_Api* plugin, size_t* count) {
  if (!has_function(plugin, &PJRT_Api::PJRT_Executable_NumOutputs)) return false;
  InnerExecutable executable(loaded, plugin);
  if (executable.get() == nullptr) return false;
  PJRT_Executable_NumOutputs_Args outputs{};
  outputs.struct_size = PJRT_Executable_NumOutputs_Args_STRUCT_SIZE;
  outputs.executable = executable.get();
  bool is_known = !discard(plugin->PJRT_Executable_NumOutputs(&outputs), plugin);
  *count = outputs.num_outputs;
  return is_known;
}

}  // namespace

size_t OutputCounts::find_or_query(PJRT_LoadedExecutable* executable, const PJRT_Api* plugin) {
  if (Entry* entry = find(executable)) return entry->count.load(std::memory_order_relaxed);
  size_t count = 0;
  if (!query(executable, plugin, &count)) return 0;
  add(executable, count);
  return count;
}

void OutputCounts::forget(PJRT_LoadedExecutable* executable) {
  // Two threads may have added the same executable concurrently.
  while (Entry* entry = find(executable)) entry->executable.store(nullptr, std::memory_order_release);
}

std::atomic<OutputCounts::Entry*>& OutputCounts::bucket(const void* executable) {
  auto address = reinterpret_cast<uintptr_t>(executable);
  return buckets_[(address >> 4 ^ address >> 14) % kBuckets];
}

OutputCounts::Entry* OutputCounts::find(const void* executable) {
  for (Entry* entry = bucket(executable).load(std::memory_order_acquire); entry != nullptr; entry = entry->next) {
    if (entry->executable.load(std::memory_order_acquire) == executable) return entry;
  }
  return nullptr;
}

void OutputCounts::add(const void* executable, size_t count) {
  std::atomic<Entry*>& head = bucket(executable);
  for (Entry* entry = head.load(std::memory_order_acquire); entry != nullptr; entry = entry->next) {
    const void* unused = nullptr;
    if (!entry->executable.compare_exchange_strong(unused, &kBeingFilled)) continue;
    entry->count.store(count, std::memory_order_relaxed);
    entry->executable.store(executable, std::memory_order_release);
    return;
  }
  auto* entry = new Entry;
  entry->executable = executable;
  entry->count = count;
  entry->next = head.load(std::memory_order_relaxed);
  while (!head.compare_exchange_weak(entry->next, entry, std::memory_order_release, std::memory_order_relaxed)) {
  }
}

}  // namespace framedex::pjrt
