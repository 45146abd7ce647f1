// What the C API says of the values of its functions: which are objects, and what becomes of those.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace framedex::call_stream {

using ObjectType = uint8_t;  // a place in ObjectTable::types()

// What a call does with an object that is one of its values.
enum class Role : uint8_t {
  kCreates,  // the caller has to destroy it
  kNames,    // handed out, and owned by another object
  kUses,
  kDeletes,  // gives up what it holds; the object itself is still to be destroyed
  kDestroys,
};

// A value that is an object of this type, or a list of such.
struct ObjectField {
  std::string name;
  ObjectType type;
  Role role;
  bool is_list;
};

// As framedex.objects.BoundaryFunction, which says what each of these means; "" is none.
struct BoundaryFunction {
  std::vector<ObjectField> inputs;
  std::vector<ObjectField> results;
  bool reads = false;
  std::vector<ObjectType> sized;  // the types of those results whose size is the value `bytes`
  bool takes_callback = false;
  std::string identifies;
  std::string tells_deleted;
};

class ObjectTable {
 public:
  // The types that the others have to do with.
  static constexpr ObjectType kClient = 0;
  static constexpr ObjectType kError = 1;

  // The type with this name. Throws std::length_error at the 257th.
  ObjectType type(const std::string& name);
  void add(const std::string& function, BoundaryFunction values);

  // The names of the types, each at its place.
  const std::vector<std::string>& types() const { return types_; }
  // What is known of a function's values: nothing where it is no function of the C API.
  const BoundaryFunction& function(const std::string& name) const;
  // The types of objects that some function destroys and none hands out: they come to be unseen.
  std::vector<ObjectType> unseen_types() const;
  // The types of objects that some function tells the runtime's own numbers of.
  std::vector<ObjectType> identified_types() const;

 private:
  std::vector<std::string> types_{"client", "error"};
  std::unordered_map<std::string, BoundaryFunction> functions_;
};

}  // namespace framedex::call_stream
