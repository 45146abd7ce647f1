#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace framedex::extractor {

// The longest kept expression, in characters; a call site keeps only the last name of a longer one.
constexpr size_t kMaxWrittenLength = 60;

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

// Returns whether a name is LIKE_THIS: capitals, digits and underscores, beginning with a capital.
inline bool is_all_caps(std::string_view name) {
  if (name.empty() || !is_upper(name[0])) return false;
  for (char c : name) {
    if (!is_upper(c) && !is_digit(c) && c != '_') return false;
  }
  return true;
}

// Returns the end of the identifier that begins at `at`.
inline size_t find_word_end(std::string_view text, size_t at) {
  while (at < text.size() && is_word(text[at])) ++at;
  return at;
}

inline size_t skip_space(std::string_view text, size_t at) {
  while (at < text.size() && is_space(text[at])) ++at;
  return at;
}

// Returns the text with each run of white space replaced by one space.
std::string collapse_spaces(std::string_view text);

// Like collapse_spaces() for C++, without comments and with literals unchanged.
std::string on_one_line(std::string_view text);

// C++ lexing: each function takes the start of a token and returns its end.
size_t find_string_end(std::string_view text, size_t quote);     // "..." and R"(...)"
size_t find_character_end(std::string_view text, size_t quote);  // '...'; at a digit separator, the position after it
size_t find_comment_end(std::string_view text, size_t slash);    // `slash` itself if no comment begins there
size_t find_directive_end(std::string_view text, size_t hash);   // the line break that ends it, or the end of the text

}  // namespace framedex::extractor
