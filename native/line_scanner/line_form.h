// What is alike in lines that differ in numbers and names only.
#pragma once

#include <string>
#include <string_view>

namespace framedex::line_scanner {

// The form of a line is the line with its numbers taken for equal: addresses, digits in names, and numbers from 2 on,
// each of the same length; and the letters of qualified names. What a line is to those who read stacks depends on that
// alone; which function or line of a file it names depends on the rest.

// Appends the form of a line. False, and nothing appended, for one with characters that are not printed ones of ASCII:
// its form is the line itself.
bool append_form(std::string_view line, std::string& form);

// A line of the same form, with another character wherever the form leaves that open.
std::string sibling_of(std::string_view line);

}  // namespace framedex::line_scanner
