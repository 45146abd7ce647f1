#pragma once

#include <tree_sitter/api.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "parser.h"

namespace framedex::extractor {

// Words that a grammar's lexer took for plain identifiers in one of its states, by hash. Lossy: a newer word may take
// the place of an older one. One for each thread.
class SeenWords {
 public:
  SeenWords() : slots_(size_t{1} << kBits) {}
  bool contains(uint64_t hash) const { return slots_[hash >> (64 - kBits)] == hash; }
  void add(uint64_t hash) { slots_[hash >> (64 - kBits)] = hash; }

 private:
  static constexpr int kBits = 15;
  std::vector<uint64_t> slots_;
};

// Lexes white space and identifiers, most of any source, at the speed of a loop over bytes. A grammar's generated lexer
// takes a call and a search in Unicode tables for every character of them.
//
// What the generated lexer would find is known: for white space because each of its states was tried on examples when
// the grammar was loaded, for an identifier because it met the same word in the same state before. Anything else is
// left to it.
class FastLexing {
 public:
  explicit FastLexing(const TSLanguage& language);

  // Takes the place of the grammar's lexer. The input's payload has to be a LexedText.
  static bool lex(TSLexer* lexer, TSStateId state);

 private:
  bool skips_blanks(TSStateId state) const;

  bool (*generated_)(TSLexer*, TSStateId);
  TSSymbol identifier_;
  std::vector<bool> skips_blanks_;  // by state of the generated lexer
};

// What the parser's input reads from.
struct LexedText {
  std::string_view text;
  const FastLexing* lexing;
  SeenWords* words;
};

}  // namespace framedex::extractor
