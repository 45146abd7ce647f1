#include "pjrt/live_rules/judge.h"

#include <cstdio>
#include <string>

#include "pjrt/plugin_faults/exceptions.h"

namespace framedex::pjrt {

void Judge::address(uint16_t /*field*/, const void* object) {
  if (object == nullptr) return;
  switch (role_) {
    case LiveRole::kUses:
    case LiveRole::kReads:
      return use(object);
    case LiveRole::kDestroys:
      return destroy(object);
    case LiveRole::kDeletes:
      return objects::remove_content(type_, object, function_);
    case LiveRole::kCreates:
      return objects::create(type_, object);
    case LiveRole::kNames:
    case LiveRole::kFailsToDestroy:
      return objects::forget(object);
  }
}

void Judge::addresses(uint16_t field, const void* const* objects, size_t count) {
  for (size_t i = 0; objects != nullptr && i < count; ++i) {
    if (objects[i] == nullptr) find_null(i);
    address(field, objects[i]);
  }
}

void Judge::address_lists(uint16_t field, const void* const* const* rows, size_t row_count, size_t row_length) {
  if (role_ == LiveRole::kCreates && row_length == 0) objects::forget_all();  // maybe the length is unknown
  for (size_t i = 0; rows != nullptr && i < row_count; ++i) addresses(field, rows[i], row_length);
}

void Judge::use(const void* object) {
  KnownObject known = objects::find(type_, object);
  if (known.state == ObjectState::kDestroyed) report(LiveRule::kUseAfterDestroy, object, known.ended_by);
  if (known.state == ObjectState::kDeleted && role_ == LiveRole::kReads) {
    report(LiveRule::kUseAfterDelete, object, known.ended_by);
  }
}

void Judge::destroy(const void* object) {
  KnownObject before = objects::destroy(type_, object, function_);
  if (before.state == ObjectState::kDestroyed) report(LiveRule::kDoubleDestroy, object, before.ended_by);
}

void Judge::report(LiveRule rule, const void* object, const char* earlier) {
  char detail[160];
  std::snprintf(detail, sizeof(detail), "%s %p, after %s", name_of(type_), object, earlier);
  pjrt::report(rule, function_, stack_, detail);
}

// A list of objects has no null.
void Judge::find_null(size_t index) {
  LiveRule rule = role_ == LiveRole::kCreates ? LiveRule::kOkWithoutResult : LiveRule::kNullHandle;
  pjrt::report(rule, function_, stack_, std::string(field_) + " has null at " + std::to_string(index));
}

void Judge::receiver(const char* field, const void* object) {
  if (object == nullptr) pjrt::report(LiveRule::kNullHandle, function_, stack_, std::string(field) + " is null");
}

void Judge::result(const char* field, const void* object) {
  if (object == nullptr) pjrt::report(LiveRule::kOkWithoutResult, function_, stack_, std::string(field) + " is null");
}

void Judge::struct_size(const char* field, size_t size, size_t oldest) {
  if (size >= oldest) return;
  std::string detail = std::string(field) + " " + std::to_string(size) + ", at least " + std::to_string(oldest);
  pjrt::report(LiveRule::kStructTooSmall, function_, stack_, detail);
}

void Judge::unfilled(const char* const* fields, uint64_t mask) {
  std::string text = "not assigned: ";
  for (const char* separator = ""; mask != 0; mask &= mask - 1, separator = ", ") {
    text += separator + std::string(fields[__builtin_ctzll(mask)]);
  }
  pjrt::report(LiveRule::kOkWithoutResult, function_, stack_, text);
  objects::forget_all();  // the other results are not judged
}

void Judge::exception() { pjrt::report(LiveRule::kException, function_, stack_, current_exception()); }

}  // namespace framedex::pjrt
