// The memory of one simulated device: an address range of its own, and an allocator with a limit.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

namespace framedex::mock {

// Sizes in bytes. Pages of the range are backed by host memory only once they are written.
struct MemoryStatistics {
  int64_t in_use = 0;
  int64_t peak = 0;
  int64_t allocations = 0;
  int64_t largest_allocation = 0;
  int64_t limit = 0;
  int64_t largest_free_block = 0;
};

// Best fit over the free blocks of the range; neighbours are joined when freed. Thread-safe. Every allocation and every
// release is a call of the boundary `mock_tpu` (DeviceMemory::Allocate, DeviceMemory::Free).
class DeviceMemory {
 public:
  static constexpr uint64_t kAlignment = 512;  // as on a TPU: one row of 128 lanes of 4 bytes

  // Reserves the address range. Throws std::bad_alloc if the host refuses it.
  DeviceMemory(int device, int64_t limit);
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  // nullptr when no free block is large enough. An allocation of 0 bytes has an address of its own.
  void* Allocate(int64_t bytes);
  void Free(void* address);
  MemoryStatistics statistics() const;

 private:
  void* take_best_fit(uint64_t size);
  uint64_t give_back(void* address);

  int device_;
  uint64_t limit_;
  char* base_;
  mutable std::mutex mutex_;
  std::multimap<uint64_t, uint64_t> free_by_size_;                                  // size -> offset
  std::map<uint64_t, std::multimap<uint64_t, uint64_t>::iterator> free_by_offset_;  // offset -> its entry by size
  std::map<uint64_t, uint64_t> allocated_;                                          // offset -> size
  MemoryStatistics statistics_;
};

}  // namespace framedex::mock
