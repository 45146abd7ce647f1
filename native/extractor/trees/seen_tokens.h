#pragma once

#include <tree_sitter/api.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace framedex::extractor {

class FastLexer;

// Hashes of words that a grammar's lexer recognised as plain identifiers in a given state. Lossy: a newer word may
// replace an older one.
class SeenWords {
 public:
  SeenWords() : slots_(size_t{1} << kBits) {}
  bool contains(uint64_t hash) const { return slots_[hash >> (64 - kBits)] == hash; }
  void add(uint64_t hash) { slots_[hash >> (64 - kBits)] = hash; }

 private:
  static constexpr int kBits = 15;
  std::vector<uint64_t> slots_;
};

// A token that a grammar's lexer has recognised.
struct SeenToken {
  const FastLexer* grammar = nullptr;
  uint64_t key = 0;       // identifies the lexer's input: its state and the text
  TSSymbol symbol = 0;    // 0: no token found
  uint16_t length = 0;    // of the token, in bytes
  uint16_t advanced = 0;  // how far the lexer read to find the token's end
};

// A cache of tokens by key. Lossy as well.
class SeenTokens {
 public:
  SeenTokens() : slots_(size_t{1} << kBits) {}
  const SeenToken* find(const FastLexer* grammar, uint64_t key) const {
    const SeenToken& token = slots_[slot(key)];
    return token.key == key && token.grammar == grammar ? &token : nullptr;
  }
  void add(const SeenToken& token) { slots_[slot(token.key)] = token; }

 private:
  static size_t slot(uint64_t key) { return key * 0x9e3779b97f4a7c15u >> (64 - kBits); }

  static constexpr int kBits = 12;
  std::vector<SeenToken> slots_;
};

// A thread's caches of lexed texts.
struct LexerMemory {
  SeenWords identifiers;
  SeenTokens short_tokens;  // of up to two characters
  SeenTokens keywords;      // other input of the keyword lexer, by hash
};

}  // namespace framedex::extractor
