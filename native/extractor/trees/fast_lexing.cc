#include "extractor/trees/fast_lexing.h"

#include <cstdint>

// The core's own: where a lexer is in its text, and which of a grammar's lexer states belongs to a parser state.
#include "language.h"
#include "lexer.h"

namespace framedex::extractor {
namespace {

constexpr uint64_t kMix = 0x9e3779b97f4a7c15u;  // 2^64 over the golden ratio

bool is_blank(int32_t c) { return c == ' ' || c == '\n' || c == '\t'; }
bool begins_word(int32_t c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_ascii_word(int32_t c) { return begins_word(c) || (c >= '0' && c <= '9'); }

// What may turn a word into something else: a literal's prefix, a universal character name, letters of other alphabets.
bool ends_word(unsigned char c) { return c < 0x80 && c != '"' && c != '\'' && c != '\\' && c != '$' && c != '\0'; }

void ignore(const TSLexer*, const char*, ...) {}

// Runs a grammar's lexer on a short text.
struct Trial : TSLexer {
  explicit Trial(std::string_view example) : TSLexer{}, text(example) {
    lookahead = static_cast<unsigned char>(text[0]);
    TSLexer::advance = [](TSLexer* self, bool skip) { static_cast<Trial*>(self)->step(skip); };
    TSLexer::mark_end = [](TSLexer* self) { static_cast<Trial*>(self)->end = static_cast<Trial*>(self)->at; };
    TSLexer::get_column = [](TSLexer*) { return uint32_t{0}; };
    TSLexer::is_at_included_range_start = [](const TSLexer*) { return false; };
    TSLexer::eof = [](const TSLexer* self) {
      return static_cast<const Trial*>(self)->at >= static_cast<const Trial*>(self)->text.size();
    };
    TSLexer::log = ignore;
  }
  void step(bool skip) {
    skipped += skip;
    ++at;
    lookahead = at < text.size() ? static_cast<unsigned char>(text[at]) : 0;
  }
  std::string_view text;
  size_t at = 0, end = 0, skipped = 0;
};

// Moves over `length` bytes of ASCII.
void move(Lexer* lexer, const char* from, size_t length) {
  Length& position = lexer->current_position;
  for (size_t i = 0; i < length; ++i) {
    if (from[i] == '\n') {
      ++position.extent.row;
      position.extent.column = 0;
      lexer->column_data.value = 0;
      lexer->column_data.valid = true;
    } else {
      ++position.extent.column;
      ++lexer->column_data.value;
    }
  }
  position.bytes += static_cast<uint32_t>(length);
  lexer->data.lookahead = static_cast<unsigned char>(from[length]);
  lexer->lookahead_size = 1;
}

}  // namespace

FastLexing::FastLexing(const TSLanguage& language)
    : generated_(language.lex_fn), identifier_(language.keyword_capture_token) {
  std::vector<bool> is_known;
  for (uint32_t state = 0; state < language.state_count; ++state) {
    const TSStateId lexed = ts_language_lex_mode_for_state(&language, static_cast<TSStateId>(state)).lex_state;
    if (lexed == UINT16_MAX) continue;
    if (lexed >= is_known.size()) {
      skips_blanks_.resize(lexed + 1);
      is_known.resize(lexed + 1);
    }
    if (!is_known[lexed]) skips_blanks_[lexed] = skips_blanks(lexed);
    is_known[lexed] = true;
  }
}

bool FastLexing::skips_blanks(TSStateId state) const {
  for (const char* blanks : {" ", "\n", "\t", "  ", " \n", "\n ", "\n\n", "\t ", " \t", "\n \t\n  "}) {
    Trial trial{std::string_view(blanks)};
    generated_(&trial, state);
    if (trial.skipped != trial.text.size()) return false;
  }
  return true;
}

bool FastLexing::lex(TSLexer* lexer, TSStateId state) {
  Lexer* self = reinterpret_cast<Lexer*>(lexer);
  const LexedText& source = *static_cast<const LexedText*>(self->input.payload);
  const FastLexing& lexing = *source.lexing;
  const char* const text = source.text.data();
  const size_t size = source.text.size();
  const size_t start = self->current_position.bytes;
  size_t word = start;
  if (lexing.skips_blanks_[state]) {
    while (word < size && is_blank(text[word])) ++word;
  }
  size_t end = word;
  uint64_t hash = (reinterpret_cast<uintptr_t>(lexing.generated_) + (uint64_t{state} << 1 | (word > start))) * kMix;
  hash ^= hash >> 32;
  if (word < size && begins_word(text[word])) {
    for (; end < size && is_ascii_word(text[end]); ++end) {
      hash = (hash ^ static_cast<unsigned char>(text[end])) * kMix;
      hash ^= hash >> 29;
    }
    if (end == size || !ends_word(static_cast<unsigned char>(text[end]))) end = word;
    hash *= kMix;
  }
  if (end > word && source.words->contains(hash)) {
    move(self, text + start, word - start);
    if (word > start) self->token_start_position = self->current_position;
    move(self, text + word, end - word);
    self->token_end_position = self->current_position;
    lexer->result_symbol = lexing.identifier_;
    return true;
  }
  // The last blank is left, since which tokens may follow depends on whether one does.
  if (word > start + 1) {
    move(self, text + start, word - 1 - start);
    self->token_start_position = self->current_position;
  }
  const bool found = lexing.generated_(lexer, state);
  if (end > word && found && lexer->result_symbol == lexing.identifier_ && self->token_start_position.bytes == word &&
      self->token_end_position.bytes == end) {
    source.words->add(hash);
  }
  return found;
}

}  // namespace framedex::extractor
