#include "extractor/trees/grammar.h"

#include <tree_sitter/api.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "extractor/trees/fast_lexing.h"

// The layout of TSLanguage, from tree-sitter's sources.
#include "parser.h"

namespace framedex::extractor {

struct Grammar::UnpackedTables {
  TSLanguage language;
  std::vector<uint16_t> table;
  FastLexer lexing;
};

Grammar::Grammar(const TSLanguage* packed) {
  const uint32_t version = ts_language_abi_version(packed);
  if (version < TREE_SITTER_MIN_COMPATIBLE_LANGUAGE_VERSION || version > TREE_SITTER_LANGUAGE_VERSION) {
    throw std::runtime_error("the grammar has version " + std::to_string(version) + ", this core of tree-sitter runs " +
                             std::to_string(TREE_SITTER_MIN_COMPATIBLE_LANGUAGE_VERSION) + " to " +
                             std::to_string(TREE_SITTER_LANGUAGE_VERSION));
  }
  unpacked_ = std::make_unique<UnpackedTables>(UnpackedTables{*packed, {}, FastLexer(*packed)});
  const size_t width = packed->symbol_count;
  std::vector<uint16_t>& table = unpacked_->table;
  table.assign(packed->state_count * width, 0);
  std::copy_n(packed->parse_table, packed->large_state_count * width, table.begin());
  for (uint32_t state = packed->large_state_count; state < packed->state_count; ++state) {
    const uint16_t* data = &packed->small_parse_table[packed->small_parse_table_map[state - packed->large_state_count]];
    for (uint16_t groups = *data++; groups > 0; --groups) {
      const uint16_t value = *data++;
      for (uint16_t symbols = *data++; symbols > 0; --symbols) table[state * width + *data++] = value;
    }
  }
  unpacked_->language.large_state_count = packed->state_count;
  unpacked_->language.parse_table = table.data();
  unpacked_->language.lex_fn = FastLexer::lex;
  unpacked_->language.keyword_lex_fn = FastLexer::lex_keyword;
}

Grammar::~Grammar() = default;

const TSLanguage* Grammar::language() const { return &unpacked_->language; }

const FastLexer& Grammar::lexing() const { return unpacked_->lexing; }

TSSymbol Grammar::symbol(std::string_view name) const {
  const TSSymbol symbol =
      ts_language_symbol_for_name(language(), name.data(), static_cast<uint32_t>(name.size()), true);
  if (symbol == 0) throw std::runtime_error("the grammar has no node type " + std::string(name));
  return symbol;
}

TSFieldId Grammar::field(std::string_view name) const {
  const TSFieldId field = ts_language_field_id_for_name(language(), name.data(), static_cast<uint32_t>(name.size()));
  if (field == 0) throw std::runtime_error("the grammar has no field " + std::string(name));
  return field;
}

}  // namespace framedex::extractor
