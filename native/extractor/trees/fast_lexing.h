#pragma once

#include <tree_sitter/api.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "extractor/trees/seen_tokens.h"

// The core's own: what a grammar's lexer gets, and what that really is.
#include "lexer.h"
#include "parser.h"

namespace framedex::extractor {

// Lexes white space, identifiers, keywords and punctuation, most of any source, at the speed of a loop over bytes. A
// grammar's generated lexer takes a call for every character of them, and a search in Unicode tables for most.
//
// What the generated lexer would find is known: for white space because each of its states was tried on examples when
// the grammar was loaded; for a word and for a token of one or two characters because it met the same text in the same
// state before. Anything else is left to it.
class FastLexing {
 public:
  explicit FastLexing(const TSLanguage& language);

  // Takes the place of the grammar's lexer. The input's payload has to be a LexedText.
  static bool lex(TSLexer* lexer, TSStateId state);

  // Takes the place of the grammar's lexer of keywords, which is asked about each identifier that `lex` has found.
  static bool lex_keyword(TSLexer* lexer, TSStateId state);

 private:
  using Lex = bool (*)(TSLexer*, TSStateId);

  bool skips_blanks(TSStateId state) const;

  // Each is given a lexer in front of the blanks before a token, if there are any, and where the token begins.
  bool lex_word(Lexer* lexer, TSStateId state, size_t word) const;
  bool lex_short_token(Lexer* lexer, TSStateId state, size_t token) const;
  bool lex_generated(Lexer* lexer, TSStateId state, size_t token) const;

  Lex generated_, generated_keywords_;
  TSSymbol identifier_;
  std::vector<bool> skips_blanks_;  // by state of the generated lexer
};

// What the parser's input reads from.
struct LexedText {
  std::string_view text;
  const FastLexing* lexing;
  LexerMemory* memory;
  uint64_t identifier = 0;                         // the hash of the one that was found last; 0: not known
  void (*advance)(TSLexer*, bool skip) = nullptr;  // the core's own
};

}  // namespace framedex::extractor
