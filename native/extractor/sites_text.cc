#include "extractor/sites_text.h"

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <string_view>

namespace framedex::extractor {
namespace {

bool is_plain(char c) { return c != '"' && c != '\\' && static_cast<unsigned char>(c) >= 0x20; }

void append_quoted(std::string& text, std::string_view value) {
  text += '"';
  for (size_t at = 0; at < value.size();) {
    size_t end = at;
    while (end < value.size() && is_plain(value[end])) ++end;
    text.append(value, at, end - at);
    if (end == value.size()) break;
    const char c = value[end];
    if (c == '"' || c == '\\') {
      text += '\\';
      text += c;
    } else {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", c);
      text += escape;
    }
    at = end + 1;
  }
  text += '"';
}

void append_number(std::string& text, uint32_t number) {
  char digits[10];
  const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  text.append(digits, static_cast<size_t>(end - digits));
}

}  // namespace

std::string format_sites(const std::vector<CallSite>& sites) {
  std::string text;
  for (const CallSite& site : sites) {
    text += text.empty() ? "[[" : ",[";
    append_number(text, site.line);
    text += ',';
    append_number(text, site.column);
    text += ",\"";
    text += site.kind;
    text += "\",";
    append_quoted(text, site.callee);
    if (!site.written.empty() && site.written != site.callee) {
      text += ',';
      append_quoted(text, site.written);
    }
    text += ']';
  }
  if (!text.empty()) text += ']';
  return text;
}

}  // namespace framedex::extractor
