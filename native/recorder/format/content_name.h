// The name of a kept file. It is derived from the content, so readers detect a changed file.
#pragma once

#include <array>
#include <cstdio>
#include <string>
#include <string_view>

#include "recorder/format/record_check.h"

namespace framedex::capture {

// Returns the content's check in 16 hexadecimal digits, a dash, and its size in bytes in hexadecimal.
inline std::string content_name(std::string_view content) {
  std::array<char, 40> text;
  auto check = static_cast<unsigned long long>(check_of(content.data(), content.size()));
  std::snprintf(text.data(), text.size(), "%016llx-%zx", check, content.size());
  return text.data();
}

}  // namespace framedex::capture
