// Checks one call against the rules: the generated wrappers pass its objects here, before and after the plug-in's
// function.
//
// The functions for objects have the same signatures as those of recorder::ArgumentWriter, so that the generated
// statements that record a value can also check it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "pjrt/live_rules/findings.h"
#include "pjrt/live_rules/objects.h"

namespace framedex::pjrt {

// The effect of the call on an object. kNames: the call returns an object that another object owns.
enum class LiveRole : uint8_t { kUses, kReads, kDeletes, kDestroys, kCreates, kNames, kFailsToDestroy };

class Judge {
 public:
  Judge(const char* function, uint64_t stack) : function_(function), stack_(stack) {}

  // Sets the role, type and field name of the objects in the following calls.
  Judge& as(LiveRole role, ObjectType type, const char* field) {
    role_ = role;
    type_ = type;
    field_ = field;
    return *this;
  }
  void address(uint16_t field, const void* object);
  void addresses(uint16_t field, const void* const* objects, size_t count);
  void address_lists(uint16_t field, const void* const* const* rows, size_t row_count, size_t row_length);

  // The object to which the call belongs.
  void receiver(const char* field, const void* object);
  // An object that a successful call returns.
  void result(const char* field, const void* object);
  void struct_size(const char* field, size_t size, size_t oldest);
  void unfilled(const char* const* fields, uint64_t mask);
  void exception();

 private:
  void destroy(const void* object);
  void use(const void* object);
  void find_null(size_t index);
  void report(LiveRule rule, const void* object, const char* earlier);

  const char* function_;
  uint64_t stack_;  // recorder::Call::stack()
  LiveRole role_ = LiveRole::kUses;
  ObjectType type_ = ObjectType::kBuffer;
  const char* field_ = "";
};

// Call this after an unrecorded call, unless the call has no effect on objects.
inline void forget_objects_of_call() {
  if (is_validating) objects::forget_all();
}

}  // namespace framedex::pjrt
