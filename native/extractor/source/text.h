#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace framedex::extractor {

// Characters of an expression; a call site keeps only the last name of a longer one.
constexpr size_t kLongestWritten = 60;

inline bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f' || c == '\v'; }
inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
inline bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || is_upper(c) || is_digit(c) || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}

inline bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}
inline bool ends_with(std::string_view text, std::string_view suffix) {
  return text.size() >= suffix.size() && text.substr(text.size() - suffix.size()) == suffix;
}

// Whether a name is LIKE_THIS: capitals, digits and underscores, with a capital in front.
inline bool is_shouted(std::string_view name) {
  if (name.empty() || !is_upper(name[0])) return false;
  for (char c : name) {
    if (!is_upper(c) && !is_digit(c) && c != '_') return false;
  }
  return true;
}

// The end of the identifier that begins at `at`.
inline size_t word_end(std::string_view text, size_t at) {
  while (at < text.size() && is_word(text[at])) ++at;
  return at;
}

inline size_t skip_space(std::string_view text, size_t at) {
  while (at < text.size() && is_space(text[at])) ++at;
  return at;
}

// The text with one blank in place of each run of white space.
std::string collapsed(std::string_view text);

// The same for C++, without comments and with literals as they are.
std::string on_one_line(std::string_view text);

// C++ lexing: each takes the position where the thing begins and returns the one behind it.
size_t string_end(std::string_view text, size_t quote);     // "..." and R"(...)"
size_t character_end(std::string_view text, size_t quote);  // '...'; behind the quote for a digit separator
size_t comment_end(std::string_view text, size_t slash);    // `slash` itself where no comment begins
size_t directive_end(std::string_view text, size_t hash);   // the line break that ends it, or the end

}  // namespace framedex::extractor
