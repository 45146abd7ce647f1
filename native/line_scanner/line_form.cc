#include "line_scanner/line_form.h"

#include <array>
#include <cstdint>

namespace framedex::line_scanner {
namespace {

enum Class : uint8_t { kOther = 0, kDigit = 1, kHexLetter = 2, kLetter = 4, kStrange = 8 };

constexpr char kAnyDigit = '2';
constexpr char kAnyHexDigit = 'a';
constexpr size_t kShortestHash = 8;  // characters of a word that is a hexadecimal number without a mark

constexpr std::array<uint8_t, 256> classes() {
  std::array<uint8_t, 256> of{};
  for (size_t byte = 0; byte < of.size(); ++byte) {
    if (byte >= '0' && byte <= '9') {
      of[byte] = kDigit;
    } else if (byte >= 'a' && byte <= 'f') {
      of[byte] = kHexLetter;
    } else if ((byte >= 'g' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '_') {
      of[byte] = kLetter;
    } else if ((byte < ' ' && byte != '\t') || byte >= 0x7f) {
      of[byte] = kStrange;
    }
  }
  return of;
}

constexpr std::array<uint8_t, 256> kClasses = classes();

uint8_t class_of(char byte) { return kClasses[static_cast<unsigned char>(byte)]; }

bool is_zero_or_one(std::string_view number) {
  return number.find_first_not_of('0') >= number.size() - 1 && (number.back() == '0' || number.back() == '1');
}

// Calls `open(i, mark)` for each character of a word (letters, digits and underscores) that its form leaves open, with
// what stands there in the form; `seen` are the classes of its characters.
template <typename Open>
void for_each_open(std::string_view word, uint8_t seen, const Open& open) {
  if (seen == kDigit) {  // 0 and 1 count: as frames, lines, versions of our own documents
    if (is_zero_or_one(word)) return;
    for (size_t i = 0; i < word.size(); ++i) open(i, kAnyDigit);
    return;
  }
  const bool is_marked = word.size() > 2 && word[0] == '0' && word[1] == 'x';
  if (is_marked) {
    uint8_t rest = 0;
    for (size_t i = 2; i < word.size(); ++i) rest |= class_of(word[i]);
    if ((rest & kLetter) == 0) {
      size_t i = 2;
      while (i < word.size() && word[i] == '0') ++i;
      for (; i < word.size(); ++i) open(i, kAnyHexDigit);
      return;
    }
  }
  const bool is_hash = seen == (kDigit | kHexLetter) && word.size() >= kShortestHash;
  for (size_t i = 0; i < word.size(); ++i) {
    if (is_hash && i > 0) {
      open(i, kAnyHexDigit);
    } else if (class_of(word[i]) == kDigit) {
      open(i, kAnyDigit);
    }
  }
}

// Calls `word(begin, end, classes)` for each word with a digit. False where a character is a strange one.
template <typename Word>
bool for_each_word(std::string_view line, const Word& word) {
  size_t position = 0;
  while (position < line.size()) {
    uint8_t seen = class_of(line[position]);
    if (seen == kStrange) return false;
    if (seen == kOther) {
      ++position;
      continue;
    }
    const size_t begin = position++;
    for (; position < line.size(); ++position) {
      const uint8_t next = class_of(line[position]);
      if (next == kOther || next == kStrange) break;
      seen |= next;
    }
    if ((seen & kDigit) != 0) word(begin, position, seen);
  }
  return true;
}

char other_digit(char digit) {
  if (digit >= 'a') return digit == 'f' ? 'a' : static_cast<char>(digit + 1);
  return digit == '9' ? '2' : digit == '0' ? '5' : static_cast<char>(digit + 1);
}

}  // namespace

bool append_form(std::string_view line, std::string& form) {
  const size_t before = form.size();
  form.append(line);
  const bool has_form = for_each_word(line, [&](size_t begin, size_t end, uint8_t seen) {
    for_each_open(line.substr(begin, end - begin), seen, [&](size_t i, char mark) { form[before + begin + i] = mark; });
  });
  if (!has_form) form.resize(before);
  return has_form;
}

std::string sibling_of(std::string_view line) {
  std::string sibling(line);
  for_each_word(line, [&](size_t begin, size_t end, uint8_t seen) {
    for_each_open(line.substr(begin, end - begin), seen, [&](size_t i, char) {
      sibling[begin + i] = other_digit(line[begin + i]);
    });
  });
  return sibling;
}

}  // namespace framedex::line_scanner
