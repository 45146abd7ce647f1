#include "line_scanner/line_form.h"

#include <array>
#include <cstdint>

namespace framedex::line_scanner {
namespace {

enum Class : uint8_t { kOther = 0, kDigit = 1, kLowerHex = 2, kUpperHex = 4, kLetter = 8, kStrange = 16 };

constexpr char kAnyDigit = '2';
constexpr char kAnyLower = 'a';
constexpr char kAnyUpper = 'A';
constexpr size_t kShortestName = 4;
constexpr size_t kShortestHash = 8;  // minimum characters of a hexadecimal number without a prefix

constexpr std::array<uint8_t, 256> classes() {
  std::array<uint8_t, 256> of{};
  for (size_t byte = 0; byte < of.size(); ++byte) {
    if (byte >= '0' && byte <= '9') {
      of[byte] = kDigit;
    } else if (byte >= 'a' && byte <= 'f') {
      of[byte] = kLowerHex;
    } else if (byte >= 'A' && byte <= 'F') {
      of[byte] = kUpperHex;
    } else if ((byte >= 'g' && byte <= 'z') || (byte >= 'G' && byte <= 'Z') || byte == '_') {
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

// Calls `open(i, mark)` for each character of a word (letters, digits and underscores) that the form replaces. `mark`
// is its placeholder, and `seen` has the classes of the word's characters.
template <typename Open>
void for_each_placeholder(std::string_view word, uint8_t seen, const Open& open) {
  if (seen == kDigit) {  // 0 and 1 are not replaced: they are frame numbers, line numbers, or our document versions
    if (is_zero_or_one(word)) return;
    for (size_t i = 0; i < word.size(); ++i) open(i, kAnyDigit);
    return;
  }
  size_t first = 0;
  bool is_hexadecimal = seen == (kDigit | kLowerHex) && word.size() >= kShortestHash;
  char any = kAnyLower;
  if (word.size() > 2 && word[0] == '0' && word[1] == 'x') {
    uint8_t rest = 0;
    for (size_t i = 2; i < word.size(); ++i) rest |= class_of(word[i]);
    is_hexadecimal = (rest & kLetter) == 0 && (rest & (kLowerHex | kUpperHex)) != (kLowerHex | kUpperHex);
    if ((rest & kUpperHex) != 0) any = kAnyUpper;
    first = 2;
  } else if (is_hexadecimal && class_of(word[0]) != kDigit) {
    first = 1;
  }
  while (first < word.size() && word[first] == '0') ++first;
  for (size_t i = first; i < word.size(); ++i) {
    if (is_hexadecimal) {
      open(i, any);
    } else if (class_of(word[i]) == kDigit) {
      open(i, kAnyDigit);
    }
  }
}

// Returns whether a word is part of a qualified C++ name, whose letters may vary. The keyword `operator` is not.
bool is_qualified(std::string_view line, size_t begin, size_t end) {
  if (end - begin < kShortestName) return false;  // for example `py::` in perf maps
  constexpr std::string_view kScope = "::";
  constexpr std::string_view kBefore = ":<(,*& \t";
  if (begin > 0 && kBefore.find(line[begin - 1]) == std::string_view::npos) return false;
  const bool is_scope = line.substr(end, kScope.size()) == kScope;
  const bool is_scoped = begin >= kScope.size() && line.substr(begin - kScope.size(), kScope.size()) == kScope;
  return (is_scope || is_scoped) && line.substr(begin, end - begin) != "operator";
}

// Like the function above, for a word of a line. If the word is part of a qualified name, its letters are replaced too.
template <typename Open>
void for_each_placeholder(std::string_view line, size_t begin, size_t end, uint8_t seen, const Open& open) {
  const std::string_view word = line.substr(begin, end - begin);
  if (seen == kDigit || !is_qualified(line, begin, end)) {
    for_each_placeholder(word, seen, open);
    return;
  }
  for (size_t i = 0; i < word.size(); ++i) {
    if (word[i] != '_') open(i, class_of(word[i]) == kDigit ? kAnyDigit : word[i] >= 'a' ? kAnyLower : kAnyUpper);
  }
}

// Calls `word(begin, end, classes)` for each word. Returns false at a character that is not printable ASCII.
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
    word(begin, position, seen);
  }
  return true;
}

// Returns a different character of the same kind: a digit, or a letter that remains a hexadecimal digit if it was one.
char different_character(char character) {
  if (character == '9') return '2';
  if (character == '0') return '5';
  if (character == 'f' || character == 'F') return static_cast<char>(character - 5);
  if (character == 'z' || character == 'Z') return static_cast<char>(character - 1);
  return static_cast<char>(character + 1);
}

}  // namespace

bool append_form(std::string_view line, std::string& form) {
  const size_t before = form.size();
  form.append(line);
  const bool has_form = for_each_word(line, [&](size_t begin, size_t end, uint8_t seen) {
    for_each_placeholder(line, begin, end, seen, [&](size_t i, char mark) { form[before + begin + i] = mark; });
  });
  if (!has_form) form.resize(before);
  return has_form;
}

std::string sibling_of(std::string_view line) {
  std::string sibling(line);
  for_each_word(line, [&](size_t begin, size_t end, uint8_t seen) {
    for_each_placeholder(line, begin, end, seen,
                         [&](size_t i, char) { sibling[begin + i] = different_character(line[begin + i]); });
  });
  return sibling;
}

}  // namespace framedex::line_scanner
