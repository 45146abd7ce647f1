#pragma once

#include <tree_sitter/api.h>

#include <string_view>

#include "extractor/source/source_file.h"
#include "extractor/trees/grammar.h"
#include "extractor/trees/syntax_tree.h"

namespace framedex::extractor {

// The node types and fields of tree-sitter-python that extraction looks at.
struct PythonSyntax {
  explicit PythonSyntax(const Grammar& grammar);

  const Grammar& grammar;
  TSSymbol function_definition, class_definition, lambda, call, attribute_node, identifier;
  TSFieldId name, parameters, function, attribute;
};

// Finds the definitions, named as `__qualname__` has them, and the calls of a Python source. Throws std::runtime_error
// where the source is too far from Python to be parsed.
Extraction extract_python(const PythonSyntax& syntax, std::string_view source, Workspace& workspace);

}  // namespace framedex::extractor
