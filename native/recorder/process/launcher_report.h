// What `framedex run` is told of the recordings of its program, through a file that is no file of the program's.
#pragma once

#include <string_view>

namespace framedex::recorder {

// Appends one entry to the file that FRAMEDEX_REPORT names: a word for what happened, a space, a text, a zero byte. It
// is memory of the launcher, so a full disk does not keep it from being told. Returns whether it was told: without the
// variable nobody asked.
bool report_to_launcher(std::string_view what, std::string_view text);

}  // namespace framedex::recorder
