#include "call_stream/object_numbers.h"

#include <unordered_set>

namespace framedex::call_stream {

ObjectNumbers::ObjectNumbers(const ObjectTable& table) : types_(table.types().size()) {
  for (ObjectType type : table.find_identified_types()) types_[type].has_ids = true;
}

int64_t ObjectNumbers::add(ObjectType type, uint64_t object) {
  TypeNumbers& known = types_[type];
  int64_t order = ++known.count;
  if (known.has_ids) known.objects.push_back({object, std::nullopt, order});
  return order;
}

void ObjectNumbers::identify(ObjectType type, int64_t order, int64_t id) {
  types_[type].objects[static_cast<size_t>(order - 1)].id = id;
}

int64_t ObjectNumbers::reported_number(ObjectType type, int64_t order) const {
  const TypeNumbers& known = types_[type];
  return known.has_ids ? known.objects[static_cast<size_t>(order - 1)].reported : order;
}

NumberRows ObjectNumbers::take_changes() {
  NumberRows changes;
  for (TypeNumbers& type : types_) {
    bool by_ids = have_distinct_ids(type);
    for (size_t i = 0; i < type.objects.size(); ++i) {
      NumberedObject& object = type.objects[i];
      int64_t number = by_ids ? *object.id : static_cast<int64_t>(i) + 1;
      if (number == object.reported) continue;
      object.reported = number;
      changes.object.push_back(object.object);
      changes.number.push_back(number);
    }
  }
  return changes;
}

bool ObjectNumbers::have_distinct_ids(const TypeNumbers& type) {
  std::unordered_set<int64_t> ids;
  for (const NumberedObject& object : type.objects) {
    if (!object.id.has_value() || !ids.insert(*object.id).second) return false;
  }
  return true;
}

}  // namespace framedex::call_stream
