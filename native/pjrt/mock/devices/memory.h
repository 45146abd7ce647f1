// The memory spaces of a device.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "pjrt/mock/devices/device_memory.h"
#include "pjrt_c_api.h"

namespace framedex::mock {

// Memory that a device accounts for, until this object goes. An empty one accounts for nothing.
class Reservation {
 public:
  Reservation() = default;
  Reservation(std::shared_ptr<DeviceMemory> pool, void* address) : pool_(std::move(pool)), address_(address) {}
  Reservation(Reservation&& other) noexcept { swap(other); }
  Reservation& operator=(Reservation&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Reservation() {
    if (address_ != nullptr) pool_->Free(address_);
  }
  const void* address() const { return address_; }

 private:
  void swap(Reservation& other) noexcept {
    pool_.swap(other.pool_);
    std::swap(address_, other.address_);
  }

  std::shared_ptr<DeviceMemory> pool_;
  void* address_ = nullptr;
};

// In the order of kMemorySpaceKinds.
enum class MemoryKind { kDevice, kPinnedHost, kUnpinnedHost };

// What the runtime hangs on a memory (PJRT_Memory_FunctionTable). It is asked for with every buffer, so without a lock.
class UserData {
 public:
  UserData() = default;
  ~UserData();
  UserData(const UserData&) = delete;
  UserData& operator=(const UserData&) = delete;

  void* get(const void* key) const;
  // Destroys what the key had before; nobody reads that any more.
  void set(const void* key, void* data, void (*destroy)(void*));

 private:
  struct Entry {
    const void* key;
    Entry* next;
    std::atomic<void*> data{nullptr};
    void (*destroy)(void*) = nullptr;
  };
  Entry* find(const void* key) const;

  std::mutex mutex_;  // of whoever sets
  std::atomic<Entry*> first_{nullptr};
};

// A memory space. The device's own has a limit; host memory is the host's.
struct Memory : PJRT_Memory {
  Memory(int id, MemoryKind kind, PJRT_Device* device, int device_id, std::shared_ptr<DeviceMemory> pool);

  // Bytes of this memory, given back when the last owner lets go; nullptr when there is not enough.
  std::shared_ptr<char> allocate(int64_t bytes) const;
  // Accounts for memory without giving bytes to write to, since the array is not in it; nothing when there is not
  // enough.
  std::optional<Reservation> reserve(int64_t bytes) const;

  int id;
  MemoryKind kind;
  PJRT_Device* device;
  std::shared_ptr<DeviceMemory> pool;
  std::string kind_name;
  std::string text;

  UserData user_data;
};

void add_memory_functions(PJRT_Api& api);

}  // namespace framedex::mock
