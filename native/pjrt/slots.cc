#include "pjrt/slots.h"

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>

#include "recorder/base/readable_memory.h"

namespace framedex::pjrt {
namespace {

std::array<TracedTable, 64> tables;
std::atomic<size_t> table_count{0};

}  // namespace

void add_traced_table(const TracedTable& table) {
  size_t count = table_count.load(std::memory_order_relaxed);
  if (count == tables.size()) return;
  tables[count] = table;
  table_count.store(count + 1, std::memory_order_release);
}

TracedTables traced_tables() { return {tables.data(), table_count.load(std::memory_order_acquire)}; }

std::string null_functions() {
  std::string names;
  for (const TracedTable& table : traced_tables()) {
    for (size_t i = 0; i < table.slot_count; ++i) {
      const Slot& slot = table.slots[i];
      if (table.has(slot) && table.function_at(slot) == nullptr)
        names += (names.empty() ? "" : ", ") + std::string(slot.function);
    }
  }
  return names;
}

size_t count_undescribed_functions() {
  size_t count = 0;
  for (const TracedTable& table : traced_tables()) {
    if (table.size > table.described_size) count += (table.size - table.described_size) / sizeof(void*);
  }
  return count;
}

void* copy_of(const void* table, size_t size, size_t described_size) {
  void* copy = std::calloc(1, size > described_size ? size : described_size);
  std::memcpy(copy, table, size);
  if (size < described_size) {
    recorder::copy_readable(static_cast<const char*>(table) + size, static_cast<char*>(copy) + size,
                            described_size - size);
  }
  return copy;
}

}  // namespace framedex::pjrt
