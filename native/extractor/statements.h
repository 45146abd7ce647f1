#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "extractor/extract_file.h"

namespace framedex::extractor {

// The lines of a statement as ordered ranges, both ends inclusive, from 1. Nested statements (the body of a lambda or
// of a local class) are left out. An `if`, a loop or a definition covers only the lines before its body.
using StatementLines = std::vector<std::pair<uint32_t, uint32_t>>;

// Returns the statements of more than one line, in source order, without those that have a syntax error. Throws
// std::runtime_error if the source cannot be parsed.
std::vector<StatementLines> long_statements(const Languages& languages, std::string_view source, Language language,
                                            const MacroTable& macros);

}  // namespace framedex::extractor
