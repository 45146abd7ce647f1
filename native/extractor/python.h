#pragma once

#include <tree_sitter/api.h>

#include <string_view>

#include "extractor/source/source_file.h"
#include "extractor/trees/grammar.h"
#include "extractor/trees/syntax_tree.h"

namespace framedex::extractor {

// The node types and fields of tree-sitter-python that extraction uses.
struct PythonSyntax {
  explicit PythonSyntax(const Grammar& grammar);

  const Grammar& grammar;
  TSSymbol function_definition, class_definition, lambda, call, attribute_node, identifier;
  TSFieldId name, parameters, function, attribute;
};

// Extracts the definitions, named by `__qualname__`, and the calls of a Python source. Throws std::runtime_error if the
// source cannot be parsed as Python.
Extraction extract_python(const PythonSyntax& syntax, std::string_view source, Workspace& workspace);

}  // namespace framedex::extractor
