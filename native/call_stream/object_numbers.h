// The numbers that tell the objects of a type apart.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "call_stream/object_rows.h"
#include "call_stream/object_table.h"

namespace framedex::call_stream {

// The runtime's own ids where they tell all objects of a type apart, else the order of birth from 1. Objects are given
// out with the order; what is to be another number is told once the calls so far have said it.
class ObjectNumbers {
 public:
  explicit ObjectNumbers(const ObjectTable& table);

  // The order of a new object among those of its type.
  int64_t add(ObjectType type, uint64_t object);
  // Notes the runtime's id of an object, which was born as `order`.
  void identify(ObjectType type, int64_t order, int64_t id);
  // The number that the object is known by so far.
  int64_t told(ObjectType type, int64_t order) const;
  // The numbers that changed since the last call.
  NumberRows take_changes();

 private:
  struct Numbered {
    uint64_t object;
    std::optional<int64_t> id;
    int64_t told;
  };
  struct OfType {
    bool has_ids = false;  // whether some function tells ids of this type
    int64_t count = 0;
    std::vector<Numbered> objects;  // where it has ids
  };

  static bool are_told_apart_by_ids(const OfType& type);

  std::vector<OfType> types_;
};

}  // namespace framedex::call_stream
