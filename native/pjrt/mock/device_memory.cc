#include "pjrt/mock/device_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <iterator>
#include <new>

#include "recorder/recorder.h"

namespace framedex::mock {
namespace {

const char* const kAllocateValues[] = {"device", "bytes", "address"};
const char* const kFreeValues[] = {"device", "address", "bytes"};
const recorder::Function kFunctions[] = {{"mock_tpu", "DeviceMemory::Allocate", kAllocateValues, 3},
                                         {"mock_tpu", "DeviceMemory::Free", kFreeValues, 3}};
constexpr int kResourceExhausted = 8;
// Blocks of this size are handed back to the host when freed.
constexpr uint64_t kTrimSize = uint64_t{1} << 20;

uint32_t first_function() {
  static const uint32_t first = recorder::register_functions(kFunctions, std::size(kFunctions));
  return first;
}

uint64_t rounded(int64_t bytes) {
  uint64_t size = std::max<int64_t>(bytes, 1);
  return (size + DeviceMemory::kAlignment - 1) / DeviceMemory::kAlignment * DeviceMemory::kAlignment;
}

}  // namespace

DeviceMemory::DeviceMemory(int device, int64_t limit) : device_(device), limit_(rounded(limit)), base_(nullptr) {
  void* range = mmap(nullptr, limit_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range == MAP_FAILED) throw std::bad_alloc();
  base_ = static_cast<char*>(range);
  free_by_offset_[0] = free_by_size_.emplace(limit_, 0);
  statistics_.limit = limit;
  first_function();
}

DeviceMemory::~DeviceMemory() { munmap(base_, limit_); }

void* DeviceMemory::Allocate(int64_t bytes) {
  recorder::Call call(first_function());
  if (call.is_recording()) {
    call.arguments().integer(0, device_);
    call.arguments().integer(1, bytes);
    call.enter();
  }
  void* address = bytes <= statistics_.limit ? take_best_fit(rounded(bytes)) : nullptr;
  if (call.is_recording()) {
    call.arguments().address(2, address);
    call.leave(address != nullptr ? 0 : kResourceExhausted, address != nullptr ? "" : "no free block is large enough");
  }
  return address;
}

void DeviceMemory::Free(void* address) {
  recorder::Call call(first_function() + 1);
  if (call.is_recording()) {
    call.arguments().integer(0, device_);
    call.arguments().address(1, address);
    call.enter();
  }
  uint64_t size = give_back(address);
  if (call.is_recording()) call.arguments().integer(2, static_cast<int64_t>(size));
}

MemoryStatistics DeviceMemory::statistics() const {
  std::lock_guard lock(mutex_);
  MemoryStatistics statistics = statistics_;
  statistics.largest_free_block = free_by_size_.empty() ? 0 : static_cast<int64_t>(free_by_size_.rbegin()->first);
  return statistics;
}

void* DeviceMemory::take_best_fit(uint64_t size) {
  std::lock_guard lock(mutex_);
  auto block = free_by_size_.lower_bound(size);
  if (block == free_by_size_.end()) return nullptr;
  const auto [block_size, offset] = *block;
  free_by_size_.erase(block);
  free_by_offset_.erase(offset);
  if (block_size > size) free_by_offset_[offset + size] = free_by_size_.emplace(block_size - size, offset + size);
  allocated_[offset] = size;
  auto bytes = static_cast<int64_t>(size);
  statistics_.in_use += bytes;
  statistics_.peak = std::max(statistics_.peak, statistics_.in_use);
  statistics_.largest_allocation = std::max(statistics_.largest_allocation, bytes);
  ++statistics_.allocations;
  return base_ + offset;
}

uint64_t DeviceMemory::give_back(void* address) {
  std::lock_guard lock(mutex_);
  auto block = allocated_.find(static_cast<uint64_t>(static_cast<char*>(address) - base_));
  if (block == allocated_.end()) return 0;
  uint64_t offset = block->first;
  uint64_t size = block->second;
  const uint64_t freed = size;
  allocated_.erase(block);
  statistics_.in_use -= static_cast<int64_t>(size);
  if (size >= kTrimSize) madvise(base_ + offset, size, MADV_DONTNEED);

  auto after = free_by_offset_.find(offset + size);
  if (after != free_by_offset_.end()) {
    size += after->second->first;
    free_by_size_.erase(after->second);
    free_by_offset_.erase(after);
  }
  auto before = free_by_offset_.lower_bound(offset);
  if (before != free_by_offset_.begin()) {
    --before;
    if (before->first + before->second->first == offset) {
      offset = before->first;
      size += before->second->first;
      free_by_size_.erase(before->second);
      free_by_offset_.erase(before);
    }
  }
  free_by_offset_[offset] = free_by_size_.emplace(size, offset);
  return freed;
}

}  // namespace framedex::mock
