#include "capture_reader/values.h"

namespace framedex::capture {
namespace {

constexpr size_t kWord = sizeof(uint64_t);

size_t payload_size(const version_2::ValueHeader& header) {
  switch (header.kind) {
    case ValueKind::kText:
      return pad(header.count);
    case ValueKind::kIntegers:
    case ValueKind::kAddresses:
    case ValueKind::kAddressLists:
      return size_t{header.count} * kWord;
    case ValueKind::kMore:
    case ValueKind::kSmall:
    case ValueKind::kTruth:
      return 0;
    default:
      return kWord;
  }
}

bool take_value_of_version_2(Body* body, Value* value) {
  auto header = body->read<version_2::ValueHeader>();
  if (body->is_broken() || header.kind < ValueKind::kInteger || header.kind > ValueKind::kAddressLists) return false;
  std::string_view payload = body->take(payload_size(header));
  if (body->is_broken()) return false;
  *value = {header.field, header.kind, header.count, payload, kWord};
  return true;
}

uint32_t take_count(Body* body) {
  uint64_t count = 0;
  for (unsigned shift = 0; shift < 35; shift += 7) {
    auto byte = body->read<uint8_t>();
    count |= uint64_t{byte & 0x7Fu} << shift;
    if (byte < 0x80) break;
  }
  return static_cast<uint32_t>(count);
}

bool take_list(Body* body, uint16_t field, ValueKind kind, Value* value) {
  uint32_t count = take_count(body);
  auto size = body->read<uint8_t>();
  if (size == 0 || size > kWord) return false;
  *value = {field, kind, count, body->take(size_t{count} * size), size};
  return !body->is_broken();
}

}  // namespace

bool take_value(Body* body, Value* value) {
  if (body->version() <= version_2::kVersion) return take_value_of_version_2(body, value);
  auto head = body->read<uint8_t>();
  auto kind = static_cast<ValueKind>(head & 0xF);
  uint16_t field = head >> 4;
  if (field == kFieldFollows) field = body->read<uint16_t>();
  switch (kind) {
    case ValueKind::kInteger:
    case ValueKind::kReal:
    case ValueKind::kSize:
      *value = {field, kind, 1, body->take(kWord), kWord};
      break;
    case ValueKind::kAddress:
      *value = {field, kind, 1, body->take(kAddressSize), kAddressSize};
      break;
    case ValueKind::kLongAddress:
      *value = {field, ValueKind::kAddress, 1, body->take(kWord), kWord};
      break;
    case ValueKind::kNoAddress:
      *value = {field, ValueKind::kAddress, 1, {}, kWord};
      break;
    case ValueKind::kSmall:
    case ValueKind::kTruth:
      *value = {field, kind, take_count(body), {}, kWord};
      break;
    case ValueKind::kText: {
      uint32_t count = take_count(body);
      *value = {field, kind, count, body->take(count), 1};
      break;
    }
    case ValueKind::kIntegers:
    case ValueKind::kAddresses:
    case ValueKind::kAddressLists:
      return take_list(body, field, kind, value);
    case ValueKind::kMore:
      *value = {field, kind, 0, {}, kWord};
      break;
    default:
      return false;
  }
  return !body->is_broken();
}

}  // namespace framedex::capture
