// Loads tree-sitter's grammars from their wheels without Python.
#pragma once

#include "extractor/extract_file.h"

namespace framedex::fuzz {

// Returns the grammars of C++ and Python, loaded from files that the build selects. On failure ends the process with a
// message.
const extractor::Languages& languages();

}  // namespace framedex::fuzz
