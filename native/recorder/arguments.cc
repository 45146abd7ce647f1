#include "recorder/arguments.h"

#include <algorithm>
#include <cstdio>

namespace framedex::recorder {

using capture::kAddressSize;
using capture::ValueKind;

namespace {

constexpr size_t kNear = 256;

bool continues_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

// Returns the last start of a line at or before `most`; without a near one, the last start of a character.
size_t last_start(std::string_view text, size_t most) {
  size_t line_end = text.substr(0, most).rfind('\n');
  if (line_end != std::string_view::npos && most - line_end <= kNear) return line_end + 1;
  constexpr size_t kContinuing = 3;  // bytes of a UTF-8 character after its first
  size_t start = most;
  while (most - start < kContinuing && continues_character(text[start])) --start;
  return continues_character(text[start]) ? most : start;
}

// Returns the first start of a line at or after `least`; without a near one, the first start of a character.
size_t first_start(std::string_view text, size_t least) {
  size_t line_end = text.substr(least - 1, kNear).find('\n');
  if (line_end != std::string_view::npos) return least + line_end;
  while (least < text.size() && continues_character(text[least])) ++least;
  return least;
}

// Returns whether the bytes are complete UTF-8 without control characters, except tab and newline.
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
      if (!continues_character(bytes[i + k])) return false;
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

void ArgumentWriter::error_message(std::string_view message) {
  if (message.size() <= kErrorBeginning + kErrorEnd) return text(capture::kErrorMessageField, message);
  size_t beginning = last_start(message, kErrorBeginning);
  size_t end = first_start(message, message.size() - kErrorEnd);
  char gap[48];
  const char* line_break = message[beginning - 1] == '\n' ? "" : "\n";
  int gap_size = std::snprintf(gap, sizeof(gap), "%s[%zu bytes left out]\n", line_break, end - beginning);
  std::string_view parts[] = {message.substr(0, beginning), {gap, static_cast<size_t>(gap_size)}, message.substr(end)};
  size_t size = parts[0].size() + parts[1].size() + parts[2].size();
  char* target = begin(capture::kErrorMessageField, ValueKind::kText, kMostCount + size);
  if (target == nullptr) return;
  put_count(target, static_cast<uint32_t>(size));
  for (std::string_view part : parts) target = std::copy(part.begin(), part.end(), target);
  finish(target);
}

void ArgumentWriter::any_count(uint16_t field, ValueKind kind, uint32_t count) {
  if (char* end = begin(field, kind, kMostCount)) {
    put_count(end, count);
    finish(end);
  }
}

void ArgumentWriter::any_address(uint16_t field, uintptr_t word) {
  size_t size = word == 0 ? 0 : word >> (8 * kAddressSize) == 0 ? kAddressSize : sizeof(word);
  ValueKind kind = size == 0              ? ValueKind::kNoAddress
                   : size == kAddressSize ? ValueKind::kAddress
                                          : ValueKind::kLongAddress;
  if (char* end = begin(field, kind, size)) {
    std::memcpy(end, &word, sizeof(word));
    finish(end + size);
  }
}

void ArgumentWriter::addresses(uint16_t field, const void* const* values, size_t count) {
  size_t kept = values == nullptr ? 0 : std::min(count, kMaximumAddresses);
  size_t size = address_size(values, kept);
  if (char* end = begin_list(field, ValueKind::kAddresses, kept, size)) {
    put_addresses(end, values, kept, size);
    finish(end);
  }
  if (values != nullptr && kept < count) note_more();
}

void ArgumentWriter::address_lists(uint16_t field, const void* const* const* rows, size_t row_count,
                                   size_t row_length) {
  size_t fitting = row_length == 0 ? row_count : kMaximumAddresses / row_length;
  size_t kept = rows == nullptr ? 0 : std::min(row_count, fitting);
  size_t size = kAddressSize;
  for (size_t row = 0; row < kept; ++row) {
    if (rows[row] != nullptr) size = std::max(size, address_size(rows[row], row_length));
  }
  char* end = begin_list(field, ValueKind::kAddressLists, 1 + kept * row_length, size);
  if (end == nullptr) return;
  put_element(end, row_length, size);
  for (size_t row = 0; row < kept; ++row) {
    if (rows[row] != nullptr) {
      put_addresses(end, rows[row], row_length, size);
    } else {
      std::memset(end, 0, row_length * size);
      end += row_length * size;
    }
  }
  finish(end);
  if (rows != nullptr && kept < row_count) note_more();
}

// Returns the bytes needed for the largest of the addresses.
size_t ArgumentWriter::address_size(const void* const* values, size_t count) {
  uintptr_t bits = 0;
  for (size_t i = 0; i < count; ++i) bits |= reinterpret_cast<uintptr_t>(values[i]);
  return bits >> (8 * kAddressSize) == 0 ? kAddressSize : sizeof(bits);
}

void ArgumentWriter::put_addresses(char*& end, const void* const* values, size_t count, size_t size) {
  for (size_t i = 0; i < count; ++i) put_element(end, reinterpret_cast<uintptr_t>(values[i]), size);
}

char* ArgumentWriter::overflow() {
  note_more();
  limit_ = 0;
  return nullptr;
}

void ArgumentWriter::note_more() {
  if (has_more_) return;
  has_more_ = true;
  *at_end() = static_cast<char>(capture::value_head(ValueKind::kMore, 0));
  ++size_;
}

std::string shorten(std::string text) {
  size_t limit = ArgumentWriter::kMaximumText;
  if (text.size() <= limit) return text;
  limit -= 3;
  while (limit > 0 && continues_character(text[limit])) --limit;
  text.resize(limit);
  return text + "...";
}

}  // namespace framedex::recorder
