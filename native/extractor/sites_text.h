#pragma once

#include <string>
#include <vector>

#include "extractor/source/source_file.h"

namespace framedex::extractor {

// Formats the calls of a definition as JSON, `[[line, column, kind, callee, written], ...]`; empty for none. There are
// millions of calls, so the index stores those of a definition as one text. SQLite tools can parse it with json_each.
std::string format_sites(const std::vector<CallSite>& sites);

}  // namespace framedex::extractor
