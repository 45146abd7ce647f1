#pragma once

#include <string_view>

#include "extractor/source/source_file.h"

namespace framedex::extractor {

// Extracts interface files, from which C++ is generated, under the names in the generated code.

// Protocol buffers: message `Outer.Inner` of package `a.b` is class `a::b::Outer_Inner`.
Extraction extract_proto(std::string_view source);

// TableGen: the record `HLO_AddOp` is class `AddOp`; the file does not say its namespace.
Extraction extract_tablegen(std::string_view source);

}  // namespace framedex::extractor
