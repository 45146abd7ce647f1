// Writes JSON objects of plain values: the only JSON in a capture.
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace framedex {

// Returns a JSON string literal. Bytes that are not UTF-8 are passed through: the reader handles them.
inline std::string json_text(std::string_view text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      std::array<char, 8> escape;
      std::snprintf(escape.data(), escape.size(), "\\u%04x", static_cast<unsigned>(static_cast<unsigned char>(c)));
      result += escape.data();
    } else {
      result += c;
    }
  }
  return result + '"';
}

class JsonObject {
 public:
  void text(std::string_view key, std::string_view value) { member(key, json_text(value)); }
  void number(std::string_view key, uint64_t value) { member(key, std::to_string(value)); }
  void texts(std::string_view key, const std::vector<std::string>& values) {
    std::string list = "[";
    for (const std::string& value : values) list += (list.size() > 1 ? ", " : "") + json_text(value);
    member(key, list + "]");
  }
  // Adds a member whose value is already JSON.
  void member(std::string_view key, std::string_view json) {
    body_ += body_.empty() ? "" : ", ";
    body_ += json_text(key);
    body_ += ": ";
    body_ += json;
  }
  std::string finish() const { return "{" + body_ + "}"; }

 private:
  std::string body_;
};

}  // namespace framedex
