// The numbers that identify objects of a type.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "call_stream/object_rows.h"
#include "call_stream/object_table.h"

namespace framedex::call_stream {

// Numbers objects by the runtime's own ids if these distinguish all objects of the type, else by order of birth from 1.
// An object is first reported with its order. If the calls so far show that ids are used, the change is reported.
class ObjectNumbers {
 public:
  explicit ObjectNumbers(const ObjectTable& table);

  // Returns the order of a new object among those of its type.
  int64_t add(ObjectType type, uint64_t object);
  // Sets the runtime's id of an object with this `order`.
  void identify(ObjectType type, int64_t order, int64_t id);
  // Returns the number last reported for the object.
  int64_t reported_number(ObjectType type, int64_t order) const;
  // Returns the numbers that changed since the last take.
  NumberRows take_changes();

 private:
  struct NumberedObject {
    uint64_t object;
    std::optional<int64_t> id;
    int64_t reported;
  };
  struct TypeNumbers {
    bool has_ids = false;  // whether some function returns ids of this type
    int64_t count = 0;
    std::vector<NumberedObject> objects;  // if it has ids
  };

  static bool have_distinct_ids(const TypeNumbers& type);

  std::vector<TypeNumbers> types_;
};

}  // namespace framedex::call_stream
