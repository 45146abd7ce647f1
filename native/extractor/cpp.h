#ifndef FRAMEDEX_EXTRACTOR_CPP_H_
#define FRAMEDEX_EXTRACTOR_CPP_H_

#include <string_view>

#include "extractor/arena.h"
#include "extractor/cpp_syntax.h"
#include "extractor/macro_table.h"
#include "extractor/source_file.h"

namespace framedex::extractor {

// The definitions and calls of a C or C++ source. `file_name` names what runs when the file is loaded.
// Throws std::runtime_error where it is hopeless as such.
Extraction extract_cpp(const CppSyntax& syntax, std::string_view source, std::string_view file_name,
                       const MacroTable& macros, Arena& arena);

}  // namespace framedex::extractor

#endif  // FRAMEDEX_EXTRACTOR_CPP_H_
