#include "call_stream/object_table.h"

#include <algorithm>
#include <limits>
#include <set>
#include <stdexcept>
#include <utility>

namespace framedex::call_stream {

ObjectType ObjectTable::type(const std::string& name) {
  auto found = std::find(types_.begin(), types_.end(), name);
  auto index = static_cast<size_t>(found - types_.begin());
  if (found == types_.end()) {
    if (index > std::numeric_limits<ObjectType>::max()) throw std::length_error("There are too many types of objects.");
    types_.push_back(name);
  }
  return static_cast<ObjectType>(index);
}

void ObjectTable::add(const std::string& function, BoundaryFunction values) {
  functions_[function] = std::move(values);
}

const BoundaryFunction& ObjectTable::function(const std::string& name) const {
  static const BoundaryFunction unknown;
  auto found = functions_.find(name);
  return found == functions_.end() ? unknown : found->second;
}

std::vector<ObjectType> ObjectTable::find_unseen_types() const {
  std::set<ObjectType> destroyed;
  for (const auto& [name, function] : functions_) {
    for (const ObjectField& field : function.inputs) {
      if (field.role == Role::kDestroys) destroyed.insert(field.type);
    }
  }
  for (const auto& [name, function] : functions_) {
    for (const ObjectField& field : function.results) destroyed.erase(field.type);
  }
  return {destroyed.begin(), destroyed.end()};
}

std::vector<ObjectType> ObjectTable::find_identified_types() const {
  std::set<ObjectType> found;
  for (const auto& [name, function] : functions_) {
    for (const auto* fields : {&function.inputs, &function.results}) {
      for (const ObjectField& field : *fields) {
        if (field.name == function.identifies) found.insert(field.type);
      }
    }
  }
  return {found.begin(), found.end()};
}

}  // namespace framedex::call_stream
