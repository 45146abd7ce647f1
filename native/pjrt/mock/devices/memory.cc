#include "pjrt/mock/devices/memory.h"

#include <cstdlib>

#include "pjrt/mock/machine/tpu_kind.h"

namespace framedex::mock {
namespace {

Memory* own(PJRT_Memory* memory) { return static_cast<Memory*>(memory); }

void* get_user_data(PJRT_Memory* memory, const void* key) { return own(memory)->user_data.get(key); }

void set_user_data(PJRT_Memory* memory, const void* key, void* data, void (*destroy)(void*)) {
  own(memory)->user_data.set(key, data, destroy);
}

const PJRT_Memory_FunctionTable kMemoryFunctions = {PJRT_Memory_FunctionTable_STRUCT_SIZE, nullptr, sizeof(Memory),
                                                    get_user_data, set_user_data};

}  // namespace

UserData::~UserData() {
  for (Entry* entry = first_.load(); entry != nullptr;) {
    if (entry->destroy != nullptr) entry->destroy(entry->data.load());
    delete std::exchange(entry, entry->next);
  }
}

UserData::Entry* UserData::find(const void* key) const {
  Entry* entry = first_.load(std::memory_order_acquire);
  while (entry != nullptr && entry->key != key) entry = entry->next;
  return entry;
}

void* UserData::get(const void* key) const {
  const Entry* entry = find(key);
  return entry != nullptr ? entry->data.load(std::memory_order_acquire) : nullptr;
}

void UserData::set(const void* key, void* data, void (*destroy)(void*)) {
  std::unique_lock lock(mutex_);
  Entry* entry = find(key);
  if (entry == nullptr) {
    entry = new Entry{key, first_.load(std::memory_order_relaxed)};
    first_.store(entry, std::memory_order_release);
  }
  void* before = entry->data.exchange(data, std::memory_order_acq_rel);
  auto destroy_before = std::exchange(entry->destroy, destroy);
  lock.unlock();
  if (destroy_before != nullptr) destroy_before(before);
}

Memory::Memory(int memory_id, MemoryKind memory_kind, PJRT_Device* owner, int device_id,
               std::shared_ptr<DeviceMemory> memory_pool)
    : PJRT_Memory{&kMemoryFunctions},
      id(memory_id),
      kind(memory_kind),
      device(owner),
      pool(std::move(memory_pool)),
      kind_name(kMemorySpaceKinds[static_cast<size_t>(memory_kind)].name),
      text("TPU_" + std::to_string(device_id) + ":" + kind_name) {}

std::shared_ptr<char> Memory::allocate(int64_t bytes) const {
  if (kind == MemoryKind::kDevice) {
    auto* address = static_cast<char*>(pool->Allocate(bytes));
    if (address == nullptr) return nullptr;
    return {address, [owner = pool](char* freed) { owner->Free(freed); }};
  }
  return {static_cast<char*>(std::malloc(static_cast<size_t>(bytes) + 1)), std::free};
}

std::optional<Reservation> Memory::reserve(int64_t bytes) const {
  if (kind != MemoryKind::kDevice) return Reservation();
  void* address = pool->Allocate(bytes);
  if (address == nullptr) return std::nullopt;
  return Reservation(pool, address);
}

void add_memory_functions(PJRT_Api& api) {
  api.PJRT_Memory_Id = [](PJRT_Memory_Id_Args* args) -> PJRT_Error* {
    args->id = own(args->memory)->id;
    return nullptr;
  };
  api.PJRT_Memory_Kind = [](PJRT_Memory_Kind_Args* args) -> PJRT_Error* {
    args->kind = own(args->memory)->kind_name.data();
    args->kind_size = own(args->memory)->kind_name.size();
    return nullptr;
  };
  api.PJRT_Memory_Kind_Id = [](PJRT_Memory_Kind_Id_Args* args) -> PJRT_Error* {
    args->kind_id = kMemorySpaceKinds[static_cast<size_t>(own(args->memory)->kind)].kind_id;
    return nullptr;
  };
  api.PJRT_Memory_DebugString = [](PJRT_Memory_DebugString_Args* args) -> PJRT_Error* {
    args->debug_string = own(args->memory)->text.data();
    args->debug_string_size = own(args->memory)->text.size();
    return nullptr;
  };
  api.PJRT_Memory_ToString = [](PJRT_Memory_ToString_Args* args) -> PJRT_Error* {
    args->to_string = own(args->memory)->text.data();
    args->to_string_size = own(args->memory)->text.size();
    return nullptr;
  };
  api.PJRT_Memory_AddressableByDevices = [](PJRT_Memory_AddressableByDevices_Args* args) -> PJRT_Error* {
    args->devices = &own(args->memory)->device;
    args->num_devices = 1;
    return nullptr;
  };
}

}  // namespace framedex::mock
