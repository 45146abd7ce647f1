#pragma once

#include <tree_sitter/api.h>

#include <memory>
#include <string>
#include <string_view>

namespace framedex::extractor {

class FastLexer;

// A tree-sitter language from a grammar wheel, with its parse table unpacked. In the wheel, the rows of most states are
// lists, and searching them takes a fifth of the time of parsing C++. Rows are unpacked at first use.
//
// Throws std::runtime_error for a grammar that this version of tree-sitter cannot run.
class Grammar {
 public:
  explicit Grammar(const TSLanguage* packed);
  ~Grammar();

  const TSLanguage* language() const;

  // Returns the lexing data that inputs for this language need; see LexedText.
  const FastLexer& lexing() const;

  // Returns the number of a node type or field. Throws std::runtime_error if the grammar has none of that name.
  TSSymbol symbol(std::string_view name) const;
  TSFieldId field(std::string_view name) const;

 private:
  struct UnpackedTables;
  std::unique_ptr<UnpackedTables> unpacked_;
};

}  // namespace framedex::extractor
