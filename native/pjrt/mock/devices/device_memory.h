// The memory of one simulated device: an address range of its own, and an allocator with a limit.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

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

// Address space that costs pages only where it is written. Throws std::bad_alloc if the host refuses it.
class AddressRange {
 public:
  explicit AddressRange(uint64_t size);
  ~AddressRange();
  AddressRange(const AddressRange&) = delete;
  AddressRange& operator=(const AddressRange&) = delete;

  char* start() const { return start_; }

 private:
  uint64_t size_;
  char* start_;
};

// What stands before every allocation of the process. Of `allocate`, `take(memory, bytes)` is what happens otherwise,
// and `give_back(memory, address)` undoes that; null: it fails. `why_refused` tells what was said of the thread's
// latest allocation, null where it failed for want of memory.
struct AllocationGate {
  void* (*allocate)(int device, int64_t bytes, void* memory, void* (*take)(void* memory, int64_t bytes),
                    void (*give_back)(void* memory, void* address));
  const char* (*why_refused)();
};
// `gate` has to stay.
void set_allocation_gate(const AllocationGate* gate);

// Best fit over the free blocks of the range; neighbours are joined. Small blocks are kept aside by their size when
// they are freed, and joined once no free block is large enough or somebody asks for statistics: a program's outputs
// come and go in the same sizes. Thread-safe. Every allocation, every release and every change of owner is a call of
// the boundary `mock_tpu` (DeviceMemory::Allocate, DeviceMemory::Free, DeviceMemory::HandOver).
class DeviceMemory {
 public:
  static constexpr uint64_t kAlignment = 512;  // as on a TPU: one row of 128 lanes of 4 bytes

  // Reserves the address range. Throws std::bad_alloc if the host refuses it.
  DeviceMemory(int device, int64_t limit);
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  // nullptr when no free block is large enough. An allocation of 0 bytes has an address of its own.
  void* Allocate(int64_t bytes);
  void Free(void* address);
  // Only tells: what was allocated at `address` is from now on a program's result, whose place among all of them,
  // device by device, is `result`.
  void HandOver(const void* address, size_t result);
  MemoryStatistics statistics();
  // The peak and the counts start anew from what is in use.
  void clear_statistics();

 private:
  // Blocks of so many bytes and more are handed back to the host when freed, smaller ones are kept aside.
  static constexpr uint64_t kSmall = (uint64_t{1} << 20) + kAlignment;

  void* take_through(const AllocationGate& gate, int64_t bytes);
  void* take_if_there(int64_t bytes);
  void* take(uint64_t size);
  bool take_best_fit(uint64_t size, uint64_t& offset);
  uint64_t give_back(void* address);
  void join(uint64_t offset, uint64_t size);
  void join_kept_blocks();

  // Of the allocation at an address, which its owner keeps meanwhile; 0 where there is none.
  uint64_t size_at(const void* address);
  uint64_t& allocated_size(uint64_t offset);

  int device_;
  uint64_t limit_;
  AddressRange range_;
  AddressRange sizes_;  // of the allocation at each multiple of kAlignment, 0 where there is none
  std::mutex mutex_;
  std::multimap<uint64_t, uint64_t> free_by_size_;                                  // size -> offset
  std::map<uint64_t, std::multimap<uint64_t, uint64_t>::iterator> free_by_offset_;  // offset -> its entry by size
  std::array<std::vector<uint64_t>, kSmall / kAlignment> kept_;                     // by size: offsets
  uint64_t kept_blocks_ = 0;
  MemoryStatistics statistics_;
};

}  // namespace framedex::mock
