// The objects among the recorded values of a call.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "call_stream/object_table.h"
#include "call_stream/recorded_call.h"
#include "capture_reader/values.h"

namespace framedex::call_stream {

// An absent number: no call, no size.
inline constexpr int64_t kNone = std::numeric_limits<int64_t>::min();

struct ObjectUse {
  ObjectType type;
  Role role;
  bool is_sized;   // whether the call's value `bytes` is its size
  bool is_listed;  // whether it is an element of a list, and so not a copy of the call's argument
  uint64_t address;
};

struct CallObjects {
  std::vector<ObjectUse> inputs;
  std::vector<ObjectUse> results;
  std::vector<ObjectType> hidden;  // types of objects that the call created unrecorded
  int64_t bytes = kNone;
  bool has_identified = false;  // whether the call returns the number of `identified`
  ObjectUse identified{};
  int64_t id = 0;
  bool is_deleted = false;  // whether the call reports that its object was deleted
};

// Reads the objects in the calls of one capture.
class ObjectReader {
 public:
  // A function of the capture, resolved through the table.
  class Function {
   public:
    Function(BoundaryFunction known, const std::vector<std::string>& value_names);

    const BoundaryFunction& known() const { return known_; }
    bool has_objects() const { return !known_.inputs.empty() || !known_.results.empty(); }
    bool destroys() const { return destroys_; }

   private:
    friend class ObjectReader;
    using Slot = uint8_t;
    struct SlottedField {
      ObjectType type;
      Role role;
      bool is_list;
      bool is_sized;
      Slot slot;
    };

    static SlottedField find_slot(const ObjectField& field, const BoundaryFunction& function,
                                  std::vector<std::string>* names);

    BoundaryFunction known_;
    bool destroys_ = false;
    std::vector<Slot> slot_of_field_;
    std::vector<SlottedField> inputs_;
    std::vector<SlottedField> results_;
    Slot bytes_;
    Slot id_;
    Slot deleted_;
    std::vector<SlottedField> identified_;  // objects with the name that the function identifies; at most one
  };

  explicit ObjectReader(ObjectTable table) : table_(std::move(table)) {}

  const ObjectTable& table() const { return table_; }
  // Adds the capture's next function. `value_names` are from the capture, one per field.
  void add_function(const std::string& name, const std::vector<std::string>& value_names) {
    functions_.emplace_back(table_.function(name), value_names);
  }
  const Function& function(uint32_t index) const { return functions_.at(index); }
  // Reads the call's objects into `found`. If values are damaged, reads only the objects before the damage.
  void read(const RecordedCall& call, CallObjects* found);

 private:
  void take_values(const Function& function, capture::Body body);
  const capture::Value* value(Function::Slot slot) const;
  void add_sightings(const Function::SlottedField& field, std::vector<ObjectUse>* found) const;
  bool is_cut(const Function::SlottedField& field) const;
  void read_identified(const Function& function, CallObjects* found) const;

  ObjectTable table_;
  std::vector<Function> functions_;
  std::vector<capture::Value> slots_;  // of the call being read
  uint64_t filled_ = 0;                // one bit per slot
  bool has_more_ = false;              // whether some of its values were not recorded
};

}  // namespace framedex::call_stream
