#pragma once

#include <string>
#include <vector>

#include "extractor/source/source_file.h"

namespace framedex::extractor {

// The calls of a definition as JSON, `[[line, column, kind, callee, written], ...]`; empty for none. There are millions
// of calls, so each definition keeps its own as one text, which any SQLite tool can take apart with json_each.
std::string sites_text(const std::vector<CallSite>& sites);

}  // namespace framedex::extractor
