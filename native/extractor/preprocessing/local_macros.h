#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "extractor/source/source_file.h"

namespace framedex::extractor {

// Expands macros that a file both defines and calls. Without a preprocessor, a parser does not see the functions that
// such calls define:
//
//   #define RPC(m) Future<m##Response> Helper::m(m##Request request) { ... }
//   RPC(Compile)
//
// Replaces each call by the macro's body on one line. Lines stay correct; columns on that line do not. Returns an empty
// text if there is nothing to replace.
std::string expand_local_macros(std::string_view source);

// Returns the function-like macros that call functions, as definitions of kind `macro`: calling such a macro calls
// those functions.
std::vector<Definition> calling_macros(std::string_view source);

}  // namespace framedex::extractor
