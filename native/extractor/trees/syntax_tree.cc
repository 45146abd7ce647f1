#include "extractor/trees/syntax_tree.h"

#include <chrono>
#include <stdexcept>

#include "language.h"

namespace framedex::extractor {
namespace {

using Clock = std::chrono::steady_clock;

// XLA's largest file takes 0.1 s and 23 MB.
constexpr std::chrono::seconds kParseTime{5};
constexpr size_t kMaxMemory = size_t{96} << 20;

struct Limits {
  const Arena& arena;
  Clock::time_point deadline;
};

bool is_over(TSParseState* state) {
  const Limits& limits = *static_cast<const Limits*>(state->payload);
  return limits.arena.used() > kMaxMemory || Clock::now() > limits.deadline;
}

const char* read(void* payload, uint32_t offset, TSPoint, uint32_t* length) {
  const std::string_view rest = static_cast<const LexedText*>(payload)->text.substr(offset);
  *length = static_cast<uint32_t>(rest.size());
  return rest.data();
}

}  // namespace

SyntaxTree::SyntaxTree(const Grammar& grammar, std::string_view text, Workspace& workspace) : memory_(workspace.arena) {
  Limits limits{workspace.arena, Clock::now() + kParseTime};
  TSParser* parser = ts_parser_new();
  ts_parser_set_language(parser, grammar.language());
  LexedText lexed{text, &grammar.lexing(), &workspace.lexed};
  const TSInput input{&lexed, read, TSInputEncodingUTF8, nullptr};
  tree_ = ts_parser_parse_with_options(parser, nullptr, input, {&limits, is_over});
  ts_parser_delete(parser);  // frees the grammar's own state, which is not in the arena
  if (tree_ == nullptr) throw std::runtime_error("its syntax is too far from the language");
}

Walk::Walk(TSNode root)
    : tree_(root.tree),
      language_(ts_tree_language(root.tree)),
      current_(static_cast<const Subtree*>(root.id)),
      position_{ts_node_start_byte(root), ts_node_start_point(root)},
      type_(ts_node_symbol(root)) {}

TSNode Walk::node() const {
  return {{position_.bytes, position_.extent.row, position_.extent.column, alias_}, current_, tree_};
}

bool Walk::advance(bool into) {
  if (into) enter(*current_);
  while (!open_.empty()) {
    Level& level = open_.back();
    if (level.next == level.end) {
      open_.pop_back();
      continue;
    }
    const Subtree& child = *level.next++;
    const Length position = level.position;
    if (level.next < level.end) {
      level.position = length_add(length_add(position, ts_subtree_size(child)), ts_subtree_padding(*level.next));
    }
    const TSSymbol alias = level.aliases != nullptr && !ts_subtree_extra(child) ? *level.aliases++ : 0;
    position_ = position;
    if (alias != 0 || ts_subtree_visible(child)) {
      current_ = &child;
      alias_ = alias;
      type_ = ts_language_public_symbol(language_, alias != 0 ? alias : ts_subtree_symbol(child));
      return true;
    }
    if (ts_subtree_visible_child_count(child) > 0) enter(child);
  }
  return false;
}

// The first child begins where the parent does, at position_.
void Walk::enter(const Subtree& parent) {
  const uint32_t count = ts_subtree_child_count(parent);
  if (count == 0) return;
  const Subtree* const children = ts_subtree_children(parent);
  open_.push_back(
      {children, children + count, ts_language_alias_sequence(language_, parent.ptr->production_id), position_});
}

}  // namespace framedex::extractor
