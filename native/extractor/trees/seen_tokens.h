#pragma once

#include <tree_sitter/api.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace framedex::extractor {

class FastLexing;

// Words that a grammar's lexer took for plain identifiers in one of its states, by hash. Lossy: a newer word may take
// the place of an older one.
class SeenWords {
 public:
  SeenWords() : slots_(size_t{1} << kBits) {}
  bool contains(uint64_t hash) const { return slots_[hash >> (64 - kBits)] == hash; }
  void add(uint64_t hash) { slots_[hash >> (64 - kBits)] = hash; }

 private:
  static constexpr int kBits = 15;
  std::vector<uint64_t> slots_;
};

// What a grammar's lexer found somewhere.
struct SeenToken {
  const FastLexing* grammar = nullptr;
  uint64_t key = 0;       // says all that the lexer looked at: its state and the text
  TSSymbol symbol = 0;    // 0: it found nothing
  uint16_t length = 0;    // of the token, in bytes
  uint16_t advanced = 0;  // how far the lexer went to see that it ends there
};

// Such tokens, by key. Lossy as well.
class SeenTokens {
 public:
  SeenTokens() : slots_(size_t{1} << kBits) {}
  const SeenToken* find(const FastLexing* grammar, uint64_t key) const {
    const SeenToken& token = slots_[slot(key)];
    return token.key == key && token.grammar == grammar ? &token : nullptr;
  }
  void add(const SeenToken& token) { slots_[slot(token.key)] = token; }

 private:
  static size_t slot(uint64_t key) { return key * 0x9e3779b97f4a7c15u >> (64 - kBits); }

  static constexpr int kBits = 12;
  std::vector<SeenToken> slots_;
};

// What a thread remembers of the texts that it has lexed.
struct LexerMemory {
  SeenWords identifiers;
  SeenTokens short_tokens;  // of up to two characters
  SeenTokens keywords;      // and what else the lexer of keywords was asked about, by hash
};

}  // namespace framedex::extractor
