#include "capture_reader/values.h"

namespace framedex::capture {
namespace {

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

}  // namespace

bool take_value(Body* body, Value* value) {
  auto header = body->read<ValueHeader>();
  if (body->is_broken() || header.kind < ValueKind::kInteger || header.kind > ValueKind::kAddressLists) return false;
  std::string_view payload = body->take(payload_size(header));
  if (body->is_broken()) return false;
  *value = Value(header, payload);
  return true;
}

}  // namespace framedex::capture
