#pragma once

#include <tree_sitter/api.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "extractor/trees/seen_tokens.h"

// tree-sitter's internal header: the actual type behind TSLexer.
#include "lexer.h"
#include "parser.h"

namespace framedex::extractor {

// Lexes white space, identifiers, keywords and punctuation (most of any source) at the speed of a loop over bytes. A
// grammar's generated lexer needs a function call for every character, and a search in Unicode tables for most of them.
//
// The result is always that of the generated lexer. For white space, each lexer state was tried on examples when the
// grammar was loaded. A word or a token of one or two characters is looked up among earlier results of the generated
// lexer in the same state. The generated lexer handles all other input.
class FastLexer {
 public:
  explicit FastLexer(const TSLanguage& language);

  // Replaces the grammar's lexer. The input's payload must be a LexedText.
  static bool lex(TSLexer* lexer, TSStateId state);

  // Replaces the grammar's keyword lexer, which runs on each identifier that `lex` has found.
  static bool lex_keyword(TSLexer* lexer, TSStateId state);

 private:
  using Lex = bool (*)(TSLexer*, TSStateId);

  bool skips_blanks(TSStateId state) const;

  // These functions take a lexer that is positioned before any blanks, and the position of the token after the blanks.
  bool lex_word(Lexer* lexer, TSStateId state, size_t word) const;
  bool lex_short_token(Lexer* lexer, TSStateId state, size_t token) const;
  bool lex_generated(Lexer* lexer, TSStateId state, size_t token) const;

  Lex generated_, generated_keywords_;
  TSSymbol identifier_;
  std::vector<bool> skips_blanks_;  // by state of the generated lexer
};

// The payload of the parser's input.
struct LexedText {
  std::string_view text;
  const FastLexer* lexing;
  LexerMemory* memory;
  uint64_t identifier = 0;                         // hash of the latest identifier; 0: unknown
  void (*advance)(TSLexer*, bool skip) = nullptr;  // tree-sitter's own function
};

}  // namespace framedex::extractor
