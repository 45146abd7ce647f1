// What the file of a program is named: a reader sees by it whether the file was changed.
#pragma once

#include <array>
#include <cstdio>
#include <string>
#include <string_view>

#include "recorder/format/record_check.h"

namespace framedex::capture {

// A check of its bytes, in 16 hexadecimal digits, and how many they are.
inline std::string program_name(std::string_view program) {
  std::array<char, 40> text;
  auto check = static_cast<unsigned long long>(check_of(program.data(), program.size()));
  std::snprintf(text.data(), text.size(), "%016llx-%zx", check, program.size());
  return text.data();
}

}  // namespace framedex::capture
