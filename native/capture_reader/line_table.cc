// Decodes CPython's location table, 3.11 and later, described in Objects/locations.md of its source tree.
#include "capture_reader/capture_reader.h"

namespace framedex::capture {
namespace {

constexpr int kNoColumns = 13;
constexpr int kLong = 14;
constexpr int kNone = 15;
constexpr uint64_t kCodeUnit = 2;  // bytes per instruction word

uint32_t read_varint(const std::string& table, size_t position) {
  uint32_t value = 0;
  for (uint32_t shift = 0; position < table.size() && shift < 32; shift += 6) {
    auto byte = static_cast<unsigned char>(table[position++]);
    value |= (byte & 0x3Fu) << shift;
    if ((byte & 0x40) == 0) break;
  }
  return value;
}

int32_t line_delta(const std::string& table, size_t entry, int code) {
  if (code == kNoColumns || code == kLong) {
    uint32_t value = read_varint(table, entry + 1);
    auto magnitude = static_cast<int32_t>(value >> 1);
    return (value & 1) != 0 ? -magnitude : magnitude;
  }
  return code >= 10 && code <= 12 ? code - 10 : 0;
}

}  // namespace

int32_t line_of(const std::string& line_table, int32_t first_line, uint64_t instruction) {
  int64_t line = first_line;
  uint64_t end = 0;
  for (size_t entry = 0; entry < line_table.size();) {
    auto head = static_cast<unsigned char>(line_table[entry]);
    int code = head >> 3 & 15;
    end += ((head & 7u) + 1) * kCodeUnit;
    line += line_delta(line_table, entry, code);
    if (instruction < end) {
      bool is_line = code != kNone && line > 0 && line <= INT32_MAX;
      return is_line ? static_cast<int32_t>(line) : 0;
    }
    // Only the first byte of an entry has its high bit set.
    do {
      ++entry;
    } while (entry < line_table.size() && (static_cast<unsigned char>(line_table[entry]) & 0x80) == 0);
  }
  return 0;
}

}  // namespace framedex::capture
