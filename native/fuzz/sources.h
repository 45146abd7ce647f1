// Checks that hold for the definitions of any source.
#pragma once

#include "extractor/source/source_file.h"
#include "fuzz/input.h"

namespace framedex::fuzz {

inline void check(const extractor::Extraction& extraction, std::string_view source) {
  auto lines = static_cast<uint32_t>(std::count(source.begin(), source.end(), '\n')) + 1;
  for (const extractor::Definition& definition : extraction.definitions) {
    require(definition.line >= 1 && definition.line <= definition.end_line && definition.end_line <= lines);
    for (const extractor::CallSite& call : definition.calls) require(call.line >= 1 && call.line <= lines);
  }
}

}  // namespace framedex::fuzz
