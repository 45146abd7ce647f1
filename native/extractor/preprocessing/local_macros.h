#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "extractor/source/source_file.h"

namespace framedex::extractor {

// Expands macros that a file defines and calls itself. A parser without a preprocessor sees no function in
// RPC(Compile), where the file says
//   #define RPC(m) Future<m##Response> Helper::m(m##Request request) { ... }
// Each call is replaced by what its macro says, on one line, so that lines stay true; columns on that line do not.
// Empty where there is nothing to replace.
std::string expand_local_macros(std::string_view source);

// The function-like macros that call something, as definitions of kind `macro`: a call of one is a call of what it
// calls.
std::vector<Definition> calling_macros(std::string_view source);

}  // namespace framedex::extractor
