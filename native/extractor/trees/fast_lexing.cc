#include "extractor/trees/fast_lexing.h"

#include <algorithm>
#include <cstdint>

// tree-sitter's internal header: a lexer's position, and the lexer state of each parser state.
#include "language.h"
#include "lexer.h"

namespace framedex::extractor {
namespace {

constexpr uint64_t kMix = 0x9e3779b97f4a7c15u;  // 2^64 divided by the golden ratio

bool is_blank(int32_t c) { return c == ' ' || c == '\n' || c == '\t'; }
bool begins_word(int32_t c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_ascii_word(int32_t c) { return begins_word(c) || (c >= '0' && c <= '9'); }

// Returns whether a byte certainly ends a word: it cannot belong to a literal's prefix, a universal character name or a
// non-ASCII letter.
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

// Like move(), for text without line breaks.
void move_on_line(Lexer* lexer, const char* from, size_t length) {
  const auto count = static_cast<uint32_t>(length);
  lexer->current_position.bytes += count;
  lexer->current_position.extent.column += count;
  lexer->column_data.value += count;
  lexer->data.lookahead = static_cast<unsigned char>(from[length]);
  lexer->lookahead_size = 1;
}

// Moves over blanks to the start of a token.
void move_to_token(Lexer* lexer, const char* text, size_t token) {
  const size_t start = lexer->current_position.bytes;
  if (token == start) return;
  move(lexer, text + start, token - start);
  lexer->token_start_position = lexer->current_position;
}

// Repeats a known result at `text`, the lexer's position.
void repeat(Lexer* lexer, const char* text, const SeenToken& token) {
  move(lexer, text, token.length);
  lexer->token_end_position = lexer->current_position;
  move(lexer, text + token.length, token.advanced - token.length);
  lexer->data.result_symbol = token.symbol;
}

SeenToken found_by(const Lexer* lexer, const FastLexer* grammar, uint64_t key) {
  const uint32_t begin = lexer->token_start_position.bytes;
  return {grammar, key, lexer->data.result_symbol, static_cast<uint16_t>(lexer->token_end_position.bytes - begin),
          static_cast<uint16_t>(lexer->current_position.bytes - begin)};
}

LexedText& source_of(Lexer* lexer) { return *static_cast<LexedText*>(lexer->input.payload); }

// Advances by one character like tree-sitter, but skips its checks if this and the next character are plain.
void advance(TSLexer* lexer, bool skip) {
  Lexer* self = reinterpret_cast<Lexer*>(lexer);
  const uint32_t next = self->current_position.bytes - self->chunk_start + self->lookahead_size;
  if (self->lookahead_size != 1 || lexer->lookahead == '\n' || next >= self->chunk_size ||
      static_cast<unsigned char>(self->chunk[next]) >= 0x80) {
    source_of(self).advance(lexer, skip);
    return;
  }
  move_on_line(self, self->chunk + next - 1, 1);
  if (skip) self->token_start_position = self->current_position;
}

// Marks the token's end at the lexer's position. Valid only for text of a single range.
void mark_end(TSLexer* lexer) {
  Lexer* self = reinterpret_cast<Lexer*>(lexer);
  self->token_end_position = self->current_position;
}

// Returns a key for all input that the generated lexer can have read. It read at most up to byte `looked_at` of `text`.
// `blank` is the blank before the text, if any.
uint64_t short_key(TSStateId state, char blank, const char* text, size_t looked_at) {
  uint64_t key = uint64_t{state} << 48 | uint64_t{static_cast<unsigned char>(blank)} << 40 | uint64_t{looked_at} << 32;
  for (size_t i = 0; i < looked_at; ++i) key |= uint64_t{static_cast<unsigned char>(text[i])} << 8 * i;
  return key;
}

constexpr size_t kMinLookahead = 2, kMaxLookahead = 3;

bool is_ascii(const char* text, size_t length) {
  for (size_t i = 0; i < length; ++i) {
    if (static_cast<unsigned char>(text[i]) >= 0x80) return false;
  }
  return true;
}

}  // namespace

FastLexer::FastLexer(const TSLanguage& language)
    : generated_(language.lex_fn),
      generated_keywords_(language.keyword_lex_fn),
      identifier_(language.keyword_capture_token) {
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

bool FastLexer::skips_blanks(TSStateId state) const {
  for (const char* blanks : {" ", "\n", "\t", "  ", " \n", "\n ", "\n\n", "\t ", " \t", "\n \t\n  "}) {
    Trial trial{std::string_view(blanks)};
    generated_(&trial, state);
    if (trial.skipped != trial.text.size()) return false;
  }
  return true;
}

bool FastLexer::lex(TSLexer* lexer, TSStateId state) {
  Lexer* self = reinterpret_cast<Lexer*>(lexer);
  LexedText& source = source_of(self);
  const FastLexer& lexing = *source.lexing;
  if (lexer->advance != advance) {
    source.advance = lexer->advance;
    lexer->advance = advance;
    lexer->mark_end = mark_end;
  }
  const char* const text = source.text.data();
  const size_t size = source.text.size();
  const size_t start = self->current_position.bytes;
  size_t token = start;
  if (lexing.skips_blanks_[state]) {
    while (token < size && is_blank(text[token])) ++token;
  }
  source.identifier = 0;
  if (token < size && begins_word(text[token])) return lexing.lex_word(self, state, token);
  if (token + kMaxLookahead < size && is_ascii(text + token, kMaxLookahead))
    return lexing.lex_short_token(self, state, token);
  return lexing.lex_generated(self, state, token);
}

bool FastLexer::lex_word(Lexer* lexer, TSStateId state, size_t word) const {
  LexedText& source = source_of(lexer);
  const std::string_view text = source.text;
  const size_t start = lexer->current_position.bytes;
  uint64_t spelling = reinterpret_cast<uintptr_t>(this) * kMix;
  size_t end = word;
  for (; end < text.size() && is_ascii_word(text[end]); ++end) {
    spelling = (spelling ^ static_cast<unsigned char>(text[end])) * kMix;
    spelling ^= spelling >> 29;
  }
  if (end == text.size() || !ends_word(static_cast<unsigned char>(text[end]))) return lex_generated(lexer, state, word);
  const uint64_t key = (spelling ^ (uint64_t{state} << 1 | (word > start))) * kMix;
  if (source.memory->identifiers.contains(key)) {
    move_to_token(lexer, text.data(), word);
    move_on_line(lexer, text.data() + word, end - word);
    lexer->token_end_position = lexer->current_position;
    lexer->data.result_symbol = identifier_;
    source.identifier = spelling;
    return true;
  }
  const bool found = lex_generated(lexer, state, word);
  if (found && lexer->data.result_symbol == identifier_ && lexer->token_start_position.bytes == word &&
      lexer->token_end_position.bytes == end) {
    source.memory->identifiers.add(key);
    source.identifier = spelling;
  }
  return found;
}

bool FastLexer::lex_short_token(Lexer* lexer, TSStateId state, size_t token) const {
  const LexedText& source = source_of(lexer);
  const char* const text = source.text.data();
  const char blank = token > lexer->current_position.bytes ? text[token - 1] : '\0';
  SeenTokens& seen = source.memory->short_tokens;
  for (size_t looked_at = kMinLookahead; looked_at <= kMaxLookahead; ++looked_at) {
    if (const SeenToken* known = seen.find(this, short_key(state, blank, text + token, looked_at))) {
      move_to_token(lexer, text, token);
      repeat(lexer, text + token, *known);
      return true;
    }
  }
  const bool found = lex_generated(lexer, state, token);
  const size_t looked_at = std::max<size_t>(lexer->current_position.bytes - token + 1, kMinLookahead);
  if (found && lexer->token_start_position.bytes == token && looked_at <= kMaxLookahead)
    seen.add(found_by(lexer, this, short_key(state, blank, text + token, looked_at)));
  return found;
}

bool FastLexer::lex_generated(Lexer* lexer, TSStateId state, size_t token) const {
  // Leaves the last blank, because the valid tokens depend on whether a blank precedes them.
  if (token > lexer->current_position.bytes + 1) move_to_token(lexer, source_of(lexer).text.data(), token - 1);
  return generated_(&lexer->data, state);
}

bool FastLexer::lex_keyword(TSLexer* lexer, TSStateId state) {
  Lexer* self = reinterpret_cast<Lexer*>(lexer);
  const LexedText& source = source_of(self);
  const FastLexer& lexing = *source.lexing;
  if (source.identifier == 0) return lexing.generated_keywords_(lexer, state);
  SeenTokens& seen = source.memory->keywords;
  if (const SeenToken* known = seen.find(&lexing, source.identifier)) {
    if (known->symbol != 0) repeat(self, source.text.data() + self->current_position.bytes, *known);
    return known->symbol != 0;
  }
  const bool found = lexing.generated_keywords_(lexer, state);
  if (!found) {
    seen.add({&lexing, source.identifier});
  } else if (self->current_position.bytes - self->token_start_position.bytes <= UINT16_MAX) {
    seen.add(found_by(self, &lexing, source.identifier));
  }
  return found;
}

}  // namespace framedex::extractor
