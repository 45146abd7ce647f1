#pragma once

#include <string_view>

#include "extractor/cpp/cpp_syntax.h"
#include "extractor/preprocessing/macro_table.h"
#include "extractor/source/source_file.h"
#include "extractor/trees/syntax_tree.h"

namespace framedex::extractor {

// Extracts the definitions and calls of a C or C++ source. `file_name` names the function that runs when the file is
// loaded. Throws std::runtime_error if the source cannot be parsed as C++.
Extraction extract_cpp(const CppSyntax& syntax, std::string_view source, std::string_view file_name,
                       const MacroTable& macros, Workspace& workspace);

}  // namespace framedex::extractor
