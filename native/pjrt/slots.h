// The functions of the traced tables, by slot: whether a plug-in has them, and the number of undescribed functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace framedex::pjrt {

// A slot of a table, and the wrapper of its function. `argument_size`: the struct_size of a described caller.
struct Slot {
  const char* function;
  size_t offset;
  const void* wrapper;
  size_t argument_size;
};

// A plug-in's table and its traced copy. The plug-in's table has `size` bytes, the description has `described_size`.
struct TracedTable {
  const char* plugin;
  const char* copy;
  size_t size;
  size_t described_size;
  const Slot* slots;
  size_t slot_count;
  size_t number;  // of the plug-in in its process, from 0

  const void* function_at(const Slot& slot) const {
    const void* function;
    __builtin_memcpy(&function, plugin + slot.offset, sizeof(function));
    return function;
  }
  bool has(const Slot& slot) const { return slot.offset + sizeof(void*) <= size; }
};

// Adds a table, once per plug-in and struct.
void add_traced_table(const TracedTable& table);
// Returns the tables added so far. Async-signal-safe.
struct TracedTables {
  const TracedTable* first;
  size_t count;
  const TracedTable* begin() const { return first; }
  const TracedTable* end() const { return first + count; }
};
TracedTables traced_tables();

// Returns the names of a plug-in's functions whose slots are null, separated by commas.
std::string null_functions(size_t plugin);
// Returns the number of functions that a plug-in has in addition to the described ones.
size_t count_undescribed_functions(size_t plugin);

// Returns why the slot of a called function is null: "null", or "null in several plug-ins" if it is unknown which of
// them was called.
const char* explain_null();
// Returns why a plug-in lacks a function: `explain_null()`, "beyond the table", or nullptr if it has it.
inline const char* missing(const void* function, size_t size, size_t offset) {
  if (__builtin_expect(offset + sizeof(void*) > size, 0)) return "beyond the table";
  return __builtin_expect(function == nullptr, 0) ? explain_null() : nullptr;
}

// Copies a table of `size` bytes, and the bytes after it up to `described_size`, so that a client that does not check
// the size sees the same as without framedex. Unreadable bytes become zeros. The copy lives as long as the process.
void* copy_of(const void* table, size_t size, size_t described_size);
template <typename Table>
Table* copy_of(const Table* table, size_t size) {
  return static_cast<Table*>(copy_of(table, size, sizeof(Table)));
}

}  // namespace framedex::pjrt
