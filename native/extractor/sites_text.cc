#include "extractor/sites_text.h"

#include <cstdio>
#include <string_view>

namespace framedex::extractor {
namespace {

void append_quoted(std::string& text, std::string_view value) {
  text += '"';
  for (char c : value) {
    if (c == '"' || c == '\\') {
      text += '\\';
      text += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", c);
      text += escape;
    } else {
      text += c;
    }
  }
  text += '"';
}

}  // namespace

std::string sites_text(const std::vector<CallSite>& sites) {
  std::string text;
  for (const CallSite& site : sites) {
    text += text.empty() ? "[[" : ",[";
    text += std::to_string(site.line) + ',' + std::to_string(site.column) + ",\"" + site.kind + "\",";
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
