#include "pjrt/behaviours/table.h"

#include <atomic>
#include <mutex>
#include <vector>

#include "pjrt/behaviours/clients.h"
#include "pjrt/traced_call.h"

namespace framedex::behaviours {
namespace {

struct Tables {
  std::mutex mutex;
  std::atomic<const PJRT_Api*> table_below{nullptr};
  const PJRT_Api* plugin = nullptr;
  PJRT_Api* returned_table = nullptr;
  std::vector<std::atomic<bool>> watched = std::vector<std::atomic<bool>>(kFunctions.size() + 1);
};

Tables& tables() {
  static auto* const all = new Tables;  // never destroyed: plug-ins are called until the process ends
  return *all;
}

Entry& entry(PJRT_Api& table, size_t function) {
  return *reinterpret_cast<Entry*>(reinterpret_cast<char*>(&table) + kFunctions[function].offset);
}

// An entry is one aligned word, so a concurrent caller reads either the old or the new function.
void put(PJRT_Api& table, size_t function) {
  if (default_of(function) == nullptr) return;
  Entry wanted = tables().watched[function] ? kFunctions[function].wrapper : default_of(function);
  __atomic_store_n(&entry(table, function), wanted, __ATOMIC_RELEASE);
}

}  // namespace

const PJRT_Api* add_behaviour_layer(const PJRT_Api* plugin) {
  Tables& all = tables();
  std::lock_guard lock(all.mutex);
  if (all.plugin != nullptr) return plugin == all.plugin ? all.returned_table : plugin;
  all.plugin = plugin;
  auto* defaults = pjrt::copy_of(plugin, plugin->struct_size);
  add_error_functions(*defaults, *plugin);
  add_client_functions(*defaults, *plugin);
  all.table_below = defaults;
  all.returned_table = pjrt::copy_of(defaults, defaults->struct_size);
  for (size_t function = 0; function < kFunctions.size(); ++function) put(*all.returned_table, function);
  return all.returned_table;
}

const PJRT_Api* table_below() { return tables().table_below.load(std::memory_order_acquire); }

void watch(size_t function, bool is_wanted) {
  Tables& all = tables();
  std::lock_guard lock(all.mutex);
  all.watched[function] = is_wanted;
  if (all.returned_table != nullptr && function < kFunctions.size()) put(*all.returned_table, function);
}

bool is_watched(size_t function) { return tables().watched[function].load(std::memory_order_relaxed); }

Entry default_of(size_t function) {
  const PJRT_Api* table = table_below();
  return table == nullptr ? nullptr : entry(const_cast<PJRT_Api&>(*table), function);
}

PJRT_Error* call_default(size_t function, void* arguments) {
  Entry called = default_of(function);
  if (kFunctions[function].returns_error) return called(arguments);
  reinterpret_cast<void (*)(void*)>(reinterpret_cast<void (*)()>(called))(arguments);
  return nullptr;
}

}  // namespace framedex::behaviours
