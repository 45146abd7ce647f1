#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "extractor/cpp/cpp_syntax.h"
#include "extractor/preprocessing/macro_table.h"
#include "extractor/python.h"
#include "extractor/source/source_file.h"
#include "extractor/trees/grammar.h"
#include "extractor/trees/syntax_tree.h"

namespace framedex::extractor {

// The grammars of the languages, from tree-sitter wheels.
struct Languages {
  Languages(const TSLanguage* cpp_language, const TSLanguage* python_language)
      : cpp_grammar(cpp_language), python_grammar(python_language), cpp(cpp_grammar), python(python_grammar) {}
  Languages(const Languages&) = delete;
  Languages& operator=(const Languages&) = delete;

  Grammar cpp_grammar;
  Grammar python_grammar;
  CppSyntax cpp;
  PythonSyntax python;
};

enum class Language { kCpp, kPython, kProto, kTableGen };

// A file, as read at one moment.
struct ExtractedFile {
  int64_t modified = 0;  // ns
  uint64_t size = 0;     // bytes
  uint64_t content = 0;  // a hash of the bytes
  uint32_t errors = 0;
  std::vector<Definition> definitions;
  std::vector<std::string> problems;  // messages for users
};

// Larger files are generated data. XLA's largest has 0.6 MB.
inline constexpr size_t kMaxFileSize = size_t{4} << 20;

// Reads a file and extracts its definitions and calls. Never fails; errors are in `problems`.
ExtractedFile extract_file(const Languages& languages, const std::string& path, Language language,
                           const MacroTable& macros, Workspace& workspace);

// Adds the macros that a file defines; none if it cannot be read.
void learn_macros(const std::string& path, MacroTable& macros);

}  // namespace framedex::extractor
