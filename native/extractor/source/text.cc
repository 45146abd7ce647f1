#include "extractor/source/text.h"

#include <algorithm>

namespace framedex::extractor {
namespace {

// Matches `R"`, `u8R"`, `LR"`, but not `FOUR"`.
bool is_raw(std::string_view text, size_t quote) {
  if (quote == 0 || text[quote - 1] != 'R') return false;
  if (quote == 1 || !is_word(text[quote - 2])) return true;
  const char prefix = text[quote - 2];
  return prefix == '8' || prefix == 'u' || prefix == 'U' || prefix == 'L';
}

size_t find_quoted_end(std::string_view text, size_t quote) {
  const char mark = text[quote];
  size_t at = quote + 1;
  while (at < text.size() && text[at] != mark && text[at] != '\n') at += text[at] == '\\' ? 2 : 1;
  return at < text.size() && text[at] == mark ? at + 1 : (at < text.size() ? at : text.size());
}

bool is_space_or_literal(char c) { return is_space(c) || c == '/' || c == '"'; }

}  // namespace

std::string collapse_spaces(std::string_view text) {
  std::string line;
  bool gap = false;
  for (char c : text) {
    if (is_space(c)) {
      gap = true;
      continue;
    }
    if (gap && !line.empty()) line += ' ';
    gap = false;
    line += c;
  }
  return line;
}

std::string on_one_line(std::string_view text) {
  if (std::none_of(text.begin(), text.end(), is_space_or_literal)) return std::string(text);
  std::string line;
  line.reserve(text.size());
  bool gap = false;
  for (size_t i = 0; i < text.size();) {
    const size_t end = text[i] == '/' ? find_comment_end(text, i) : i;
    if (end > i || is_space(text[i])) {
      gap = true;
      i = end > i ? end : i + 1;
      continue;
    }
    if (gap && !line.empty()) line += ' ';
    gap = false;
    if (text[i] == '"') {
      const size_t closed = find_string_end(text, i);
      line.append(text.substr(i, closed - i));
      i = closed;
    } else {
      line += text[i++];
    }
  }
  return line;
}

size_t find_string_end(std::string_view text, size_t quote) {
  if (!is_raw(text, quote)) return find_quoted_end(text, quote);
  const size_t opening = text.find('(', quote);
  if (opening == std::string_view::npos || opening - quote > 17) return find_quoted_end(text, quote);  // [lex.string]
  const std::string closing = ")" + std::string(text.substr(quote + 1, opening - quote - 1)) + "\"";
  const size_t end = text.find(closing, opening);
  return end == std::string_view::npos ? text.size() : end + closing.size();
}

size_t find_character_end(std::string_view text, size_t quote) {
  if (quote > 0 && is_word(text[quote - 1])) {
    const char before = text[quote - 1];
    const bool is_prefix = (before == 'L' || before == 'u' || before == 'U' || before == '8') &&
                           (quote == 1 || !is_word(text[quote - 2]) || text[quote - 2] == 'u');
    if (!is_prefix) return quote + 1;
  }
  return find_quoted_end(text, quote);
}

size_t find_comment_end(std::string_view text, size_t slash) {
  if (text[slash] != '/' || slash + 1 >= text.size()) return slash;
  if (text[slash + 1] == '*') {
    const size_t end = text.find("*/", slash + 2);
    return end == std::string_view::npos ? text.size() : end + 2;
  }
  if (text[slash + 1] != '/') return slash;
  size_t end = text.find('\n', slash);
  while (end != std::string_view::npos && text[end - 1] == '\\') end = text.find('\n', end + 1);
  return end == std::string_view::npos ? text.size() : end;
}

size_t find_directive_end(std::string_view text, size_t hash) {
  size_t at = hash;
  while (true) {
    const size_t end = text.find('\n', at);
    if (end == std::string_view::npos) return text.size();
    const size_t last = end > hash && text[end - 1] == '\r' ? end - 1 : end;
    if (last == hash || text[last - 1] != '\\') return end;
    at = end + 1;
  }
}

}  // namespace framedex::extractor
