#include "capture_reader/arguments_json.h"

#include <cinttypes>
#include <cmath>

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
std::string list(Body* payload, uint32_t count, Format format) {
  std::string text = "[";
  for (uint32_t i = 0; i < count && payload->remaining() >= sizeof(uint64_t); ++i) {
    text += (i == 0 ? "" : ", ") + format(payload->read<uint64_t>());
  }
  return text + "]";
}

// Reads lists of one length: the first word is that length.
std::string address_lists(Body* payload, uint32_t count) {
  auto length = count == 0 ? 0 : payload->read<uint64_t>();
  std::string text = "[";
  for (uint64_t left = count == 0 ? 0 : count - 1; length != 0 && left >= length; left -= length) {
    text += (text.size() == 1 ? "" : ", ") + list(payload, static_cast<uint32_t>(length), hexadecimal);
  }
  return text + "]";
}

std::string signed_text(uint64_t word) { return std::to_string(static_cast<int64_t>(word)); }

std::string value_json(ValueKind kind, uint32_t count, Body payload) {
  switch (kind) {
    case ValueKind::kInteger:
      return signed_text(payload.read<uint64_t>());
    case ValueKind::kReal:
      return real(payload.read<double>());
    case ValueKind::kSmall:
      return std::to_string(count);
    case ValueKind::kTruth:
      return count != 0 ? "true" : "false";
    case ValueKind::kAddress:
      return hexadecimal(payload.read<uint64_t>());
    case ValueKind::kText:
      return json_text(payload.take(count));
    case ValueKind::kIntegers:
      return list(&payload, count, signed_text);
    case ValueKind::kAddresses:
      return list(&payload, count, hexadecimal);
    case ValueKind::kAddressLists:
      return address_lists(&payload, count);
    case ValueKind::kSize:
      return json_text("<" + signed_text(payload.read<uint64_t>()) + " bytes>");
    case ValueKind::kMore:
      return "true";
  }
  return "null";
}

size_t payload_size(const ValueHeader& header) {
  switch (header.kind) {
    case ValueKind::kText:
      return padded(header.count);
    case ValueKind::kIntegers:
    case ValueKind::kAddresses:
    case ValueKind::kAddressLists:
      return size_t{header.count} * sizeof(uint64_t);
    case ValueKind::kMore:
    case ValueKind::kSmall:
    case ValueKind::kTruth:
      return 0;
    default:
      return sizeof(uint64_t);
  }
}

std::string name_of(const ValueHeader& header, const std::vector<std::string>& names) {
  if (header.kind == ValueKind::kMore) return "more_values_not_recorded";
  if (header.field == kErrorMessageField) return "error_message";
  return header.field < names.size() ? names[header.field] : "value_" + std::to_string(header.field);
}

}  // namespace

bool add_values(Body body, const std::vector<std::string>& names, JsonObject* object) {
  while (body.remaining() >= sizeof(ValueHeader)) {
    auto header = body.read<ValueHeader>();
    if (header.kind < ValueKind::kInteger || header.kind > ValueKind::kAddressLists) return false;
    Body payload(body.take(payload_size(header)));
    if (body.is_broken()) return false;
    object->member(name_of(header, names), value_json(header.kind, header.count, payload));
  }
  return true;
}

}  // namespace framedex::capture
