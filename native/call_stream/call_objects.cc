#include "call_stream/call_objects.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace framedex::call_stream {
namespace {

using capture::Value;
using capture::ValueKind;

constexpr uint8_t kMaxSlots = 64;
constexpr uint8_t kNoSlot = 0xFF;
constexpr uint8_t kMoreSlot = 0xFE;

// The name that marks missing values in a capture's text form.
constexpr char kMoreName[] = "more_values_not_recorded";

uint8_t slot_named(const std::string& name, std::vector<std::string>* names) {
  if (name.empty()) return kNoSlot;
  auto found = std::find(names->begin(), names->end(), name);
  auto index = static_cast<size_t>(found - names->begin());
  if (found != names->end()) return static_cast<uint8_t>(index);
  if (index == kMaxSlots) throw std::length_error("A function has too many objects.");
  names->push_back(name);
  return static_cast<uint8_t>(index);
}

bool is_list_kind(ValueKind kind) {
  return kind == ValueKind::kIntegers || kind == ValueKind::kAddresses || kind == ValueKind::kAddressLists;
}

// Reads the value as an integer; returns false if it is not one.
bool integer(const Value& value, int64_t* number) {
  bool is_word = value.kind() == ValueKind::kInteger;
  if (!is_word && value.kind() != ValueKind::kSmall && value.kind() != ValueKind::kTruth) return false;
  *number = is_word ? static_cast<int64_t>(value.word(0)) : int64_t{value.count()};
  if (value.kind() == ValueKind::kTruth) *number = value.count() != 0 ? 1 : 0;
  return true;
}

}  // namespace

ObjectReader::Function::Function(BoundaryFunction known, const std::vector<std::string>& value_names)
    : known_(std::move(known)) {
  std::vector<std::string> names;
  for (const ObjectField& field : known_.inputs) {
    inputs_.push_back(find_slot(field, known_, &names));
    destroys_ |= field.role == Role::kDestroys;
  }
  for (const ObjectField& field : known_.results) results_.push_back(find_slot(field, known_, &names));
  bytes_ = slot_named("bytes", &names);
  id_ = slot_named("id", &names);
  deleted_ = slot_named(known_.tells_deleted, &names);
  for (const auto* fields : {&known_.inputs, &known_.results}) {
    for (const ObjectField& field : *fields) {
      if (field.name == known_.identifies) identified_.push_back(find_slot(field, known_, &names));
    }
  }
  for (const std::string& name : value_names) {
    auto slot = std::find(names.begin(), names.end(), name);
    auto index = static_cast<Slot>(slot - names.begin());
    slot_of_field_.push_back(name == kMoreName ? kMoreSlot : slot == names.end() ? kNoSlot : index);
  }
}

ObjectReader::Function::SlottedField ObjectReader::Function::find_slot(const ObjectField& field,
                                                                       const BoundaryFunction& function,
                                                                       std::vector<std::string>* names) {
  bool is_sized = std::find(function.sized.begin(), function.sized.end(), field.type) != function.sized.end();
  return {field.type, field.role, field.is_list, is_sized, slot_named(field.name, names)};
}

void ObjectReader::read(const RecordedCall& call, CallObjects* found) {
  const Function& function = functions_.at(call.function);
  found->inputs.clear();
  found->results.clear();
  found->hidden.clear();
  found->bytes = kNone;
  found->has_identified = false;
  found->is_deleted = false;
  filled_ = 0;
  has_more_ = false;
  take_values(function, call.values);
  take_values(function, call.results);
  for (const auto& field : function.inputs_) add_sightings(field, &found->inputs);
  for (const auto& field : function.results_) {
    add_sightings(field, &found->results);
    if (field.role == Role::kCreates && is_cut(field)) found->hidden.push_back(field.type);
  }
  const Value* bytes = value(function.bytes_);
  if (bytes != nullptr) integer(*bytes, &found->bytes);
  if (!function.identified_.empty()) read_identified(function, found);
  const Value* deleted = value(function.deleted_);
  found->is_deleted = deleted != nullptr && deleted->kind() == ValueKind::kTruth && deleted->count() != 0;
}

void ObjectReader::take_values(const Function& function, capture::Body body) {
  if (slots_.empty()) slots_.resize(kMaxSlots, Value());
  Value value;
  while (body.remaining() != 0 && capture::take_value(&body, &value)) {
    if (value.kind() == ValueKind::kMore) {
      has_more_ = true;
      continue;
    }
    if (value.field() >= function.slot_of_field_.size() || value.field() == capture::kErrorMessageField) continue;
    Function::Slot slot = function.slot_of_field_[value.field()];
    if (slot < kMaxSlots) {
      slots_[slot] = value;
      filled_ |= uint64_t{1} << slot;
    } else if (slot == kMoreSlot) {
      has_more_ = true;
    }
  }
}

const Value* ObjectReader::value(Function::Slot slot) const {
  return slot < kMaxSlots && (filled_ >> slot & 1) != 0 ? &slots_[slot] : nullptr;
}

void ObjectReader::add_sightings(const Function::SlottedField& field, std::vector<ObjectUse>* found) const {
  const Value* known = value(field.slot);
  if (known == nullptr) return;
  auto add = [&](uint64_t address) {
    if (address != 0) found->push_back({field.type, field.role, field.is_sized, field.is_list, address});
  };
  if (!field.is_list) {
    if (known->kind() == ValueKind::kAddress) add(known->word(0));
  } else if (known->kind() == ValueKind::kAddresses) {
    for (size_t i = 0; i < known->words(); ++i) add(known->word(i));
  } else if (known->kind() == ValueKind::kAddressLists && known->words() > 0 && known->word(0) != 0) {
    // Lists of equal length: the first word is that length.
    size_t elements = (known->words() - 1) / known->word(0) * known->word(0);
    for (size_t i = 1; i <= elements; ++i) add(known->word(i));
  }
}

// Returns whether a value has more objects than were recorded: a list with only its address, or a truncated one.
bool ObjectReader::is_cut(const Function::SlottedField& field) const {
  const Value* known = value(field.slot);
  if (has_more_ && (field.is_list || known == nullptr)) return true;
  if (known == nullptr || !field.is_list || is_list_kind(known->kind())) return false;
  bool is_address = known->kind() == ValueKind::kAddress && known->word(0) != 0;
  return is_address || known->kind() == ValueKind::kText || known->kind() == ValueKind::kSize;
}

void ObjectReader::read_identified(const Function& function, CallObjects* found) const {
  const Value* number = value(function.id_);
  if (number == nullptr || !integer(*number, &found->id)) return;
  for (const auto& field : function.identified_) {
    const Value* known = value(field.slot);
    if (known == nullptr || known->kind() != ValueKind::kAddress || known->word(0) == 0) continue;
    found->has_identified = true;
    found->identified = {field.type, field.role, false, false, known->word(0)};
  }
}

}  // namespace framedex::call_stream
