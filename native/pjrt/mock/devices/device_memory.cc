#include "pjrt/mock/devices/device_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <new>

#include "recorder/recorder.h"

namespace framedex::mock {
namespace {

const char* const kAllocateValues[] = {"device", "bytes", "address"};
const char* const kFreeValues[] = {"device", "address", "bytes"};
const char* const kHandOverValues[] = {"device", "address", "bytes", "result"};
const recorder::Function kFunctions[] = {{"mock_tpu", "DeviceMemory::Allocate", kAllocateValues, 3, nullptr, true},
                                         {"mock_tpu", "DeviceMemory::Free", kFreeValues, 3, nullptr, true},
                                         {"mock_tpu", "DeviceMemory::HandOver", kHandOverValues, 4, nullptr, true}};
constexpr int kResourceExhausted = 8;

uint32_t first_function() {
  static const uint32_t first = recorder::register_functions(kFunctions, std::size(kFunctions));
  return first;
}

uint64_t round_up(int64_t bytes) {
  uint64_t size = std::max<int64_t>(bytes, 1);
  return (size + DeviceMemory::kAlignment - 1) / DeviceMemory::kAlignment * DeviceMemory::kAlignment;
}

std::atomic<const AllocationGate*> allocation_gate{nullptr};

const char* refusal_reason(const AllocationGate* gate) {
  const char* reason = gate == nullptr ? nullptr : gate->refusal_reason();
  return reason != nullptr ? reason : "no free block is large enough";
}

}  // namespace

void set_allocation_gate(const AllocationGate* gate) { allocation_gate = gate; }

AddressRange::AddressRange(uint64_t size) : size_(size) {
  void* range = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range == MAP_FAILED) throw std::bad_alloc();
  start_ = static_cast<char*>(range);
}

AddressRange::~AddressRange() { munmap(start_, size_); }

DeviceMemory::DeviceMemory(int device, int64_t limit)
    : device_(device), limit_(round_up(limit)), range_(limit_), sizes_(limit_ / kAlignment * sizeof(uint64_t)) {
  join(0, limit_);
  statistics_.limit = limit;
  first_function();
}

void* DeviceMemory::Allocate(int64_t bytes) {
  recorder::Call call(first_function());
  if (call.is_recording()) {
    call.arguments().integer(0, device_);
    call.arguments().integer(1, bytes);
    call.enter();
  }
  const AllocationGate* gate = allocation_gate.load(std::memory_order_acquire);
  void* address = gate == nullptr ? allocate_within_limit(bytes) : allocate_through(*gate, bytes);
  if (call.is_recording()) {
    call.arguments().address(2, address);
    call.leave(address != nullptr ? 0 : kResourceExhausted, address != nullptr ? "" : refusal_reason(gate));
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
  uint64_t size = free_block(address);
  if (call.is_recording()) call.arguments().integer(2, static_cast<int64_t>(size));
}

void DeviceMemory::HandOver(const void* address, size_t result) {
  uint64_t size = size_at(address);
  if (size == 0) return;
  recorder::Call call(first_function() + 2);
  if (!call.is_recording()) return;
  call.arguments().integer(0, device_);
  call.arguments().address(1, address);
  call.arguments().integer(2, static_cast<int64_t>(size));
  call.arguments().integer(3, static_cast<int64_t>(result));
  call.enter();
}

bool DeviceMemory::CountTemporaries(int64_t bytes) {
  {
    std::lock_guard lock(mutex_);
    if (statistics_.in_use + bytes <= statistics_.limit) {
      statistics_.peak = std::max(statistics_.peak, statistics_.in_use + bytes);
      return true;
    }
  }
  recorder::Call call(first_function());
  if (call.is_recording()) {
    call.arguments().integer(0, device_);
    call.arguments().integer(1, bytes);
    call.enter();
    call.leave(kResourceExhausted, "the temporaries of a program do not fit");
  }
  return false;
}

MemoryStatistics DeviceMemory::statistics() {
  std::lock_guard lock(mutex_);
  join_kept_blocks();
  MemoryStatistics statistics = statistics_;
  statistics.largest_free_block = free_by_size_.empty() ? 0 : static_cast<int64_t>(free_by_size_.rbegin()->first);
  return statistics;
}

void DeviceMemory::clear_statistics() {
  std::lock_guard lock(mutex_);
  statistics_.peak = statistics_.in_use;
  statistics_.allocations = 0;
  statistics_.largest_allocation = 0;
}

void* DeviceMemory::allocate_through(const AllocationGate& gate, int64_t bytes) {
  auto take = [](void* memory, int64_t wanted) {
    return static_cast<DeviceMemory*>(memory)->allocate_within_limit(wanted);
  };
  auto give_back = [](void* memory, void* address) { static_cast<DeviceMemory*>(memory)->free_block(address); };
  return gate.allocate(device_, bytes, this, take, give_back);
}

void* DeviceMemory::allocate_within_limit(int64_t bytes) {
  return bytes <= statistics_.limit ? allocate_block(round_up(bytes)) : nullptr;
}

void* DeviceMemory::allocate_block(uint64_t size) {
  std::lock_guard lock(mutex_);
  uint64_t offset = 0;
  if (size < kSmall && !kept_[size / kAlignment].empty()) {
    offset = kept_[size / kAlignment].back();
    kept_[size / kAlignment].pop_back();
    --kept_blocks_;
  } else if (!pop_best_fit(size, offset)) {
    join_kept_blocks();
    if (!pop_best_fit(size, offset)) return nullptr;
  }
  allocated_size(offset) = size;
  auto bytes = static_cast<int64_t>(size);
  statistics_.in_use += bytes;
  statistics_.peak = std::max(statistics_.peak, statistics_.in_use);
  statistics_.largest_allocation = std::max(statistics_.largest_allocation, bytes);
  ++statistics_.allocations;
  return range_.start() + offset;
}

bool DeviceMemory::pop_best_fit(uint64_t size, uint64_t& offset) {
  auto block = free_by_size_.lower_bound(size);
  if (block == free_by_size_.end()) return false;
  uint64_t rest = block->first - size;
  offset = block->second;
  free_by_size_.erase(block);
  free_by_offset_.erase(offset);
  if (rest > 0) free_by_offset_[offset + size] = free_by_size_.emplace(rest, offset + size);
  return true;
}

uint64_t DeviceMemory::free_block(void* address) {
  std::lock_guard lock(mutex_);
  uint64_t size = size_at(address);
  if (size == 0) return 0;
  auto offset = static_cast<uint64_t>(static_cast<char*>(address) - range_.start());
  allocated_size(offset) = 0;
  statistics_.in_use -= static_cast<int64_t>(size);
  if (size < kSmall) {
    kept_[size / kAlignment].push_back(offset);
    ++kept_blocks_;
  } else {
    madvise(address, size, MADV_DONTNEED);
    join(offset, size);
  }
  return size;
}

void DeviceMemory::join(uint64_t offset, uint64_t size) {
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
}

void DeviceMemory::join_kept_blocks() {
  for (uint64_t i = 0; kept_blocks_ > 0 && i < kept_.size(); ++i) {
    for (uint64_t offset : kept_[i]) join(offset, i * kAlignment);
    kept_blocks_ -= kept_[i].size();
    kept_[i].clear();
  }
}

uint64_t DeviceMemory::size_at(const void* address) {
  auto offset = static_cast<uint64_t>(static_cast<const char*>(address) - range_.start());
  return offset < limit_ && offset % kAlignment == 0 ? allocated_size(offset) : 0;
}

uint64_t& DeviceMemory::allocated_size(uint64_t offset) {
  return reinterpret_cast<uint64_t*>(sizes_.start())[offset / kAlignment];
}

}  // namespace framedex::mock
