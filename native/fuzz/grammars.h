// tree-sitter's grammars out of the wheels that the extractor gets them from, without a Python.
#pragma once

#include "extractor/extract_file.h"

namespace framedex::fuzz {

// C++ and Python, loaded from the files that the build names. Ends the process with a message where that fails.
const extractor::Languages& languages();

}  // namespace framedex::fuzz
