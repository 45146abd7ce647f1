#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "extractor/extract_file.h"

namespace framedex::extractor {

// The lines of a statement, as ranges in their order; both ends count, from 1. What other statements have inside of it
// (the body of a lambda, of a local class) is left out. Of an `if`, a loop, or a definition it is what stands before
// the body.
using StatementLines = std::vector<std::pair<uint32_t, uint32_t>>;

// The statements over more than one line, in the order in which they begin; of those with a syntax error, none. Throws
// std::runtime_error where the source is too far from the language to be parsed.
std::vector<StatementLines> long_statements(const Languages& languages, std::string_view source, Language language,
                                            const MacroTable& macros);

}  // namespace framedex::extractor
