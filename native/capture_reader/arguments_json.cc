#include "capture_reader/arguments_json.h"

#include <cinttypes>
#include <cmath>
#include <cstring>

#include "capture_reader/values.h"

namespace framedex::capture {
namespace {

std::string hexadecimal(uint64_t address) {
  if (address == 0) return "null";
  std::array<char, 24> text;
  std::snprintf(text.data(), text.size(), "\"0x%" PRIx64 "\"", address);
  return text.data();
}

std::string real(double value) {
  if (!std::isfinite(value)) return "null";
  std::array<char, 40> text;
  std::snprintf(text.data(), text.size(), "%.17g", value);
  return text.data();
}

template <typename Format>
std::string list(const Value& value, size_t begin, size_t end, Format format) {
  std::string text = "[";
  for (size_t i = begin; i < end; ++i) text += (i == begin ? "" : ", ") + format(value.word(i));
  return text + "]";
}

// Lists of equal length: the first word is that length.
std::string address_lists(const Value& value) {
  uint64_t length = value.words() == 0 ? 0 : value.word(0);
  std::string text = "[";
  for (size_t begin = 1; length != 0 && value.words() - begin >= length; begin += length) {
    text += (text.size() == 1 ? "" : ", ") + list(value, begin, begin + length, hexadecimal);
  }
  return text + "]";
}

std::string signed_text(uint64_t word) { return std::to_string(static_cast<int64_t>(word)); }

std::string value_json(const Value& value) {
  switch (value.kind()) {
    case ValueKind::kInteger:
      return signed_text(value.word(0));
    case ValueKind::kReal: {
      uint64_t word = value.word(0);
      double number;
      std::memcpy(&number, &word, sizeof(number));
      return real(number);
    }
    case ValueKind::kSmall:
      return std::to_string(value.count());
    case ValueKind::kTruth:
      return value.count() != 0 ? "true" : "false";
    case ValueKind::kAddress:
    case ValueKind::kNoAddress:
    case ValueKind::kLongAddress:
      return hexadecimal(value.word(0));
    case ValueKind::kText:
      return json_text(value.text());
    case ValueKind::kIntegers:
      return list(value, 0, value.words(), signed_text);
    case ValueKind::kAddresses:
      return list(value, 0, value.words(), hexadecimal);
    case ValueKind::kAddressLists:
      return address_lists(value);
    case ValueKind::kSize:
      return json_text("<" + signed_text(value.word(0)) + " bytes>");
    case ValueKind::kMore:
      return "true";
  }
  return "null";
}

std::string name_of(const Value& value, const std::vector<std::string>& names) {
  if (value.kind() == ValueKind::kMore) return "more_values_not_recorded";
  if (value.field() == kErrorMessageField) return "error_message";
  return value.field() < names.size() ? names[value.field()] : "value_" + std::to_string(value.field());
}

}  // namespace

bool add_values(Body body, const std::vector<std::string>& names, JsonObject* object) {
  Value value;
  while (body.remaining() != 0) {
    if (!take_value(&body, &value)) return false;
    object->member(name_of(value, names), value_json(value));
  }
  return true;
}

}  // namespace framedex::capture
