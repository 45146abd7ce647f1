#include "recorder/arguments.h"

#include <algorithm>

namespace framedex::recorder {

using capture::ValueHeader;
using capture::ValueKind;

namespace {

// Printable, complete UTF-8: no control characters but tab and newline.
bool is_printable(const char* bytes, size_t size) {
  for (size_t i = 0; i < size;) {
    auto first = static_cast<unsigned char>(bytes[i]);
    if (first < 0x20 && first != '\n' && first != '\t') return false;
    if (first == 0x7F) return false;
    size_t length = first < 0x80                    ? 1
                    : first >= 0xC2 && first < 0xE0 ? 2
                    : first >= 0xE0 && first < 0xF0 ? 3
                    : first >= 0xF0 && first < 0xF5 ? 4
                                                    : 0;
    if (length == 0 || i + length > size) return false;
    for (size_t k = 1; k < length; ++k) {
      if ((static_cast<unsigned char>(bytes[i + k]) & 0xC0) != 0x80) return false;
    }
    i += length;
  }
  return true;
}

}  // namespace

void ArgumentWriter::text_or_size(uint16_t field, const char* bytes, size_t size) {
  if (bytes == nullptr) return;
  if (size <= kMaximumText && is_printable(bytes, size)) {
    text(field, {bytes, size});
  } else {
    auto wide = static_cast<int64_t>(size);
    scalar(field, ValueKind::kSize, &wide);
  }
}

void ArgumentWriter::addresses(uint16_t field, const void* const* values, size_t count) {
  size_t kept = values == nullptr ? 0 : std::min(count, kMaximumAddresses);
  size_t bytes = kept * sizeof(void*);
  if (char* payload = append(field, ValueKind::kAddresses, static_cast<uint32_t>(kept), bytes)) {
    if (bytes != 0) std::memcpy(payload, values, bytes);
  }
  if (values != nullptr && kept < count) note_more();
}

void ArgumentWriter::address_lists(uint16_t field, const void* const* const* rows, size_t row_count,
                                   size_t row_length) {
  size_t fitting = row_length == 0 ? row_count : kMaximumAddresses / row_length;
  size_t kept = rows == nullptr ? 0 : std::min(row_count, fitting);
  size_t words = 1 + kept * row_length;
  char* payload = append(field, ValueKind::kAddressLists, static_cast<uint32_t>(words), words * sizeof(void*));
  if (payload == nullptr) return;
  auto length = static_cast<uint64_t>(row_length);
  std::memcpy(payload, &length, sizeof(length));
  payload += sizeof(length);
  for (size_t row = 0; row < kept; ++row, payload += row_length * sizeof(void*)) {
    if (rows[row] != nullptr) {
      std::memcpy(payload, rows[row], row_length * sizeof(void*));
    } else {
      std::memset(payload, 0, row_length * sizeof(void*));
    }
  }
  if (rows != nullptr && kept < row_count) note_more();
}

char* ArgumentWriter::overflow() {
  note_more();
  full_ = true;
  return nullptr;
}

void ArgumentWriter::note_more() {
  if (has_more_) return;
  has_more_ = true;
  ValueHeader more{0, ValueKind::kMore, 0, 0};
  std::memcpy(data_ + size_, &more, sizeof(more));
  size_ += sizeof(more);
}

}  // namespace framedex::recorder
