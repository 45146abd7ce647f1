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

// Memory that a device accounts for while this object lives. An empty one accounts for nothing.
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

// Data that the runtime attaches to a memory (PJRT_Memory_FunctionTable). Reads take no lock: every buffer triggers
// one.
class UserData {
 public:
  UserData() = default;
  ~UserData();
  UserData(const UserData&) = delete;
  UserData& operator=(const UserData&) = delete;

  void* get(const void* key) const;
  // Sets the data of a key and destroys its previous data, which must no longer be in use.
  void set(const void* key, void* data, void (*destroy)(void*));

 private:
  struct Entry {
    const void* key;
    Entry* next;
    std::atomic<void*> data{nullptr};
    void (*destroy)(void*) = nullptr;
  };
  Entry* find(const void* key) const;

  std::mutex mutex_;  // taken by writers only
  std::atomic<Entry*> first_{nullptr};
};

// A memory space. Only the device's own memory has a limit.
struct Memory : PJRT_Memory {
  Memory(int id, MemoryKind kind, PJRT_Device* device, int device_id, std::shared_ptr<DeviceMemory> pool);

  // Allocates bytes, which are freed with the last owner; nullptr if there is not enough.
  std::shared_ptr<char> allocate(int64_t bytes) const;
  // Reserves memory for an array that is stored elsewhere; nothing if there is not enough.
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
