#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "extractor/preprocessing/macro_table.h"

namespace framedex::extractor {

// A namespace that macros open and close: bytes [begin, end) of the source, and its path, `a::b`.
struct MacroNamespace {
  size_t begin;
  size_t end;
  std::string path;
};

// A macro call that defines functions, XLA_FFI_DEFINE_HANDLER(name, implementation, ...): bytes [begin, end).
struct MacroDefinition {
  size_t begin;
  size_t end;
  std::string macro;
  std::vector<std::string> arguments;
  size_t implementation;  // start of the second argument
};

// C++ source that a grammar without a preprocessor can parse. `text` has the original's length and line breaks, so
// lines and columns are the original's.
struct ScrubbedSource {
  std::string text;
  std::vector<MacroNamespace> namespaces;
  std::vector<MacroDefinition> definitions;
  std::vector<std::pair<size_t, size_t>> assignments;  // calls of ASSIGN_OR_RETURN and the like: bytes [begin, end)
};

// Replaces or blanks source that a C++ grammar cannot parse:
//
// - attributes and their arguments: ABSL_GUARDED_BY(mu_), EIGEN_STRONG_INLINE, class TF_EXPORT Foo
// - ASSIGN_OR_RETURN(auto x, f(), ...)  ->  auto x = f(); ...
// - directives, and all but one of several incomplete branches (#if A \n f(a) { \n #else \n f(b) { \n #endif)
// - valid C++ that the grammar rejects: int f(Options o = {}), ->*, template <enable_if_t<x>* = nullptr>,
//   [f(std::move(f))] {, explicit instantiations
// - declaration macros alone on a line: MLIR_DEFINE_TYPE_ID(Foo)
// - comments, for speed
ScrubbedSource scrub(std::string_view source, const MacroTable& macros);

}  // namespace framedex::extractor
