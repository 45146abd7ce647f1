// The object table of the C API: which values of its functions are objects, and the calls' effects on them.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace framedex::call_stream {

using ObjectType = uint8_t;  // index in ObjectTable::types()

// The effect of a call on an object among its values.
enum class Role : uint8_t {
  kCreates,  // the caller must destroy it
  kNames,    // returned, and owned by another object
  kUses,
  kDeletes,  // frees its contents; the object itself must still be destroyed
  kDestroys,
};

// A value that is an object of this type, or a list of them.
struct ObjectField {
  std::string name;
  ObjectType type;
  Role role;
  bool is_list;
};

// As in framedex.programs.objects.BoundaryFunction, which documents the members; "" means none.
struct BoundaryFunction {
  std::vector<ObjectField> inputs;
  std::vector<ObjectField> results;
  bool reads = false;
  std::vector<ObjectType> sized;  // types of the results whose size is the value `bytes`
  bool takes_callback = false;
  std::string identifies;
  std::string tells_deleted;
};

class ObjectTable {
 public:
  // The types with a special role: clients own the other objects, and failed calls return errors.
  static constexpr ObjectType kClient = 0;
  static constexpr ObjectType kError = 1;

  // Returns the type with this name. Throws std::length_error at the 257th.
  ObjectType type(const std::string& name);
  void add(const std::string& function, BoundaryFunction values);

  // Returns the names of the types, by index.
  const std::vector<std::string>& types() const { return types_; }
  // Returns the entry of a function; an empty one if it is not in the C API.
  const BoundaryFunction& function(const std::string& name) const;
  // Returns the types that some function destroys and none returns: their creation is never recorded.
  std::vector<ObjectType> find_unseen_types() const;
  // Returns the types for which some function returns the runtime's own numbers.
  std::vector<ObjectType> find_identified_types() const;

 private:
  std::vector<std::string> types_{"client", "error"};
  std::unordered_map<std::string, BoundaryFunction> functions_;
};

}  // namespace framedex::call_stream
