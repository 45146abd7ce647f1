// Finds lines that differ only in numbers and names.
#pragma once

#include <string>
#include <string_view>

namespace framedex::line_scanner {

// The form of a line is the line with placeholders for the parts that vary: addresses, digits in names, numbers from 2
// on (with their length), and the letters of qualified names. The role of a line in a stack depends only on its form.
// The function or source line in it depends on the replaced parts.

// Appends the form of a line. Returns false and appends nothing for a line with characters other than printable ASCII:
// its form is the line itself.
bool append_form(std::string_view line, std::string& form);

// Returns a line of the same form, with another character at each placeholder.
std::string sibling_of(std::string_view line);

}  // namespace framedex::line_scanner
