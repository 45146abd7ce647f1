// The function tables that a plug-in's objects carry: PJRT_Memory, PJRT_Error, PJRT_RawBuffer, PJRT_DeviceEvent.
//
// Clients call these functions without PJRT_Api. Their slots are replaced in the plug-in's own table, because plug-ins
// recognise their objects by the table's address. Calls from inside the plug-in are not recorded.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace framedex::pjrt {

// The code of a loaded library, by address.
struct CodeRange {
  uintptr_t begin = 0;
  uintptr_t end = 0;

  bool contains(const void* address) const { return reinterpret_cast<uintptr_t>(address) - begin < end - begin; }
};
// The code of this library.
extern CodeRange own_code;

// Copies an object's first word, the address of its table, without a fault. Returns nullptr if it cannot be read.
const void* table_of_object(const void* object);
// Copies a table of the described size, and finds the code of its functions. Returns false if it is not such a table.
bool read_table(const void* table, void* copy, size_t size, CodeRange* code);
// Replaces the words of a table that differ from `words`, also in read-only memory. Returns false if that is
// impossible.
bool replace_table(const void* table, const void* words, size_t size);
// Serialises the first inspection of tables.
extern std::mutex object_tables_mutex;

// The traced tables of one type.
template <typename Table>
class ObjectTables {
 public:
  // A plug-in may have several tables of a type.
  static constexpr size_t kSlots = 4;
  using Wrap = void (*)(Table& table);

  const Table& original(size_t slot) const { return originals_[slot]; }
  // Returns whether a call to a slot's function comes from inside the plug-in. Its return address is then in the
  // library of that function, or in this library if the plug-in made a tail call from a function that framedex has
  // called.
  bool is_internal(size_t slot, const void* return_address) const {
    return code_[slot].contains(return_address) || own_code.contains(return_address);
  }

  // Traces the table of an object. `wraps` replace the functions of a table by the wrappers of a slot.
  template <typename Object>
  void adopt(const Object* object, Wrap const (&wraps)[kSlots]) {
    size_t known = count_.load(std::memory_order_acquire);
    // Until the first table of this type is found, the layout of an object is unknown.
    const void* table = known != 0 ? static_cast<const void*>(object->vtable) : nullptr;
    for (size_t i = 0; i < known; ++i) {
      if (tables_[i] == table) return;
    }
    if (rejected_.load(std::memory_order_relaxed) < kMostRejected) add(object, wraps);
  }

 private:
  // After this number of objects without a table, no more objects are examined.
  static constexpr size_t kMostRejected = 16;

  __attribute__((noinline)) void add(const void* object, Wrap const (&wraps)[kSlots]) {
    std::lock_guard lock(object_tables_mutex);
    const void* table = table_of_object(object);
    size_t count = count_.load(std::memory_order_relaxed);
    for (size_t i = 0; i < count; ++i) {
      if (tables_[i] == table) return;  // another thread has added it
    }
    if (table != nullptr && count < kSlots && read_table(table, &originals_[count], sizeof(Table), &code_[count])) {
      Table traced = originals_[count];
      wraps[count](traced);
      tables_[count] = table;
      if (replace_table(table, &traced, sizeof(Table))) {
        count_.store(count + 1, std::memory_order_release);
        return;
      }
    }
    rejected_.fetch_add(1, std::memory_order_relaxed);
  }

  std::array<const void*, kSlots> tables_{};
  std::array<Table, kSlots> originals_{};
  std::array<CodeRange, kSlots> code_{};
  std::atomic<size_t> count_{0};
  std::atomic<size_t> rejected_{0};
};

}  // namespace framedex::pjrt
