#include "recorder/walks/rule_cache.h"

#include "recorder/process/loader_lock.h"

namespace framedex::recorder {

void RuleCache::Table::insert(uintptr_t address, uint64_t rule) {
  size_t index = index_of(address);
  while (slots[index].address.load(std::memory_order_relaxed) != 0) index = (index + 1) & mask;
  slots[index].rule.store(rule, std::memory_order_relaxed);
  slots[index].address.store(address, std::memory_order_release);
  ++used;
}

FrameRule RuleCache::rule_from_loader(uintptr_t return_address) const {
  LoaderLock lock;
  return compute_rule(return_address, evaluator_);
}

FrameRule RuleCache::add(uintptr_t return_address) {
  FrameRule rule = rule_from_loader(return_address);
  // JIT code may get an unwind entry later, or be replaced at any time.
  if (rule.is_unknown()) return rule;
  std::lock_guard lock(mutex_);
  Table* table = tables_.back().get();
  size_t size = table->mask + 1;
  if ((table->used + 1) * 4 > size * 3) {
    auto larger = std::make_unique<Table>(size * 2);
    for (size_t i = 0; i < size; ++i) {
      uintptr_t address = table->slots[i].address.load(std::memory_order_relaxed);
      if (address != 0) larger->insert(address, table->slots[i].rule.load(std::memory_order_relaxed));
    }
    tables_.push_back(std::move(larger));
    table = tables_.back().get();
    publish();
  }
  // Another thread may have added it meanwhile; a second copy behind the first is never reached.
  table->insert(return_address, rule.bits());
  return rule;
}

void RuleCache::clear() {
  std::lock_guard lock(mutex_);
  Table& table = *tables_.back();
  for (size_t i = 0; i <= table.mask; ++i) table.slots[i].address.store(0, std::memory_order_release);
  table.used = 0;
}

}  // namespace framedex::recorder
