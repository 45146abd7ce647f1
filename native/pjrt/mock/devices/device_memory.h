// The memory of one simulated device: its own address range, and an allocator with a limit.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

namespace framedex::mock {

// Sizes in bytes. Host memory backs pages of the range only once they are written.
struct MemoryStatistics {
  int64_t in_use = 0;
  int64_t peak = 0;
  int64_t allocations = 0;
  int64_t largest_allocation = 0;
  int64_t limit = 0;
  int64_t largest_free_block = 0;
};

// Reserves address space; pages take memory only once written. Throws std::bad_alloc if the host refuses it.
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

// Runs before every allocation of the process. `allocate` can call `take(memory, bytes)` for the default allocation and
// undo it with `give_back(memory, address)`. Returning null fails the allocation. `refusal_reason` returns the reason
// for the thread's latest allocation, null if it was out of memory.
struct AllocationGate {
  void* (*allocate)(int device, int64_t bytes, void* memory, void* (*take)(void* memory, int64_t bytes),
                    void (*give_back)(void* memory, void* address));
  const char* (*refusal_reason)();
};
// `gate` must outlive all allocations.
void set_allocation_gate(const AllocationGate* gate);

// Best fit over the free blocks of the range; adjacent free blocks are merged. Freed small blocks are kept aside by
// size, because a program's outputs come and go in the same sizes. They are merged when no free block is large enough,
// or before statistics are returned.
//
// Thread-safe. Allocations, releases and changes of owner are recorded as calls of the boundary `mock_tpu`
// (DeviceMemory::Allocate, DeviceMemory::Free, DeviceMemory::HandOver).
class DeviceMemory {
 public:
  static constexpr uint64_t kAlignment = 512;  // as on a TPU: a row of 128 lanes of 4 bytes

  // Reserves the address range. Throws std::bad_alloc if the host refuses it.
  DeviceMemory(int device, int64_t limit);
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  // Returns nullptr if no free block is large enough. An allocation of 0 bytes has an address of its own.
  void* Allocate(int64_t bytes);
  void Free(void* address);
  // Records that the allocation at `address` is now a program's result. `result` is its index among all results, device
  // by device.
  void HandOver(const void* address, size_t result);
  // Adds the temporaries of a program that starts now to the peak. They do not use the memory range. Returns whether
  // they fit into the free memory. If not, records a failed allocation.
  bool CountTemporaries(int64_t bytes);
  MemoryStatistics statistics();
  // Restarts the peak and the counts from the current usage.
  void clear_statistics();

 private:
  // Freed blocks of at least this many bytes are returned to the host; smaller ones are kept aside.
  static constexpr uint64_t kSmall = (uint64_t{1} << 20) + kAlignment;

  void* allocate_through(const AllocationGate& gate, int64_t bytes);
  void* allocate_within_limit(int64_t bytes);
  void* allocate_block(uint64_t size);
  bool pop_best_fit(uint64_t size, uint64_t& offset);
  uint64_t free_block(void* address);
  void join(uint64_t offset, uint64_t size);
  void join_kept_blocks();

  // Returns the size of the allocation at an address, 0 if there is none. The owner must keep it meanwhile.
  uint64_t size_at(const void* address);
  uint64_t& allocated_size(uint64_t offset);

  int device_;
  uint64_t limit_;
  AddressRange range_;
  AddressRange sizes_;  // size of the allocation at each multiple of kAlignment; 0 if none
  std::mutex mutex_;
  std::multimap<uint64_t, uint64_t> free_by_size_;  // size -> offset
  std::map<uint64_t, std::multimap<uint64_t, uint64_t>::iterator>
      free_by_offset_;                                           // offset -> its entry in free_by_size_
  std::array<std::vector<uint64_t>, kSmall / kAlignment> kept_;  // offsets, by size
  uint64_t kept_blocks_ = 0;
  MemoryStatistics statistics_;
};

}  // namespace framedex::mock
