// Reports to the launcher, `framedex run`, on the program's recordings.
#pragma once

#include <string_view>

namespace framedex::recorder {

// Appends an entry to the file that FRAMEDEX_REPORT names: event word, space, text, zero byte. The file is in the
// launcher's memory, so a full disk does not matter. Returns whether the entry was written; false if the variable is
// not set.
bool report_to_launcher(std::string_view what, std::string_view text);

}  // namespace framedex::recorder
