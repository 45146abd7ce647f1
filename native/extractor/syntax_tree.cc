#include "extractor/syntax_tree.h"

#include <chrono>
#include <stdexcept>

namespace framedex::extractor {
namespace {

using Clock = std::chrono::steady_clock;

// XLA's largest file takes 0.1 s and 23 MB.
constexpr std::chrono::seconds kLongest{5};
constexpr std::size_t kMostMemory = std::size_t{96} << 20;

struct Limits {
  const Arena& arena;
  Clock::time_point deadline;
};

bool is_over(TSParseState* state) {
  const Limits& limits = *static_cast<const Limits*>(state->payload);
  return limits.arena.used() > kMostMemory || Clock::now() > limits.deadline;
}

const char* read(void* payload, uint32_t offset, TSPoint, uint32_t* length) {
  const std::string_view rest = static_cast<const std::string_view*>(payload)->substr(offset);
  *length = static_cast<uint32_t>(rest.size());
  return rest.data();
}

}  // namespace

SyntaxTree::SyntaxTree(const Grammar& grammar, std::string_view text, Arena& arena) : memory_(arena) {
  Limits limits{arena, Clock::now() + kLongest};
  TSParser* parser = ts_parser_new();
  ts_parser_set_language(parser, grammar.language());
  const TSInput input{&text, read, TSInputEncodingUTF8, nullptr};
  tree_ = ts_parser_parse_with_options(parser, nullptr, input, {&limits, is_over});
  ts_parser_delete(parser);  // for the grammar's own state, which is not in the arena
  if (tree_ == nullptr) throw std::runtime_error("its syntax is too far from the language");
}

}  // namespace framedex::extractor
