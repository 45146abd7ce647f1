// Tells the launcher, `framedex run`, what becomes of its program's recordings.
#pragma once

#include <string_view>

namespace framedex::recorder {

// Appends an entry to the file that FRAMEDEX_REPORT names: a word for what happened, a space, a text, a zero byte. That
// file is memory of the launcher, so a full disk does not matter. Returns whether the entry was written; without the
// variable nobody asked for it.
bool report_to_launcher(std::string_view what, std::string_view text);

}  // namespace framedex::recorder
