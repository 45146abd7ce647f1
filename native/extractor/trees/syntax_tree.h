#pragma once

#include <tree_sitter/api.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "extractor/trees/arena.h"
#include "extractor/trees/fast_lexing.h"
#include "extractor/trees/grammar.h"

// tree-sitter's internal header: its nodes.
#include "subtree.h"

namespace framedex::extractor {

// A thread's reusable data for parsing files.
struct Workspace {
  Arena arena;
  LexerMemory lexed;
};

// The parse of one file, in bounded time and memory. Its nodes are in the workspace's arena: one tree at a time.
class SyntaxTree {
 public:
  // Throws std::runtime_error if parsing would take too long or too much memory, because the text is not in the
  // language.
  SyntaxTree(const Grammar& grammar, std::string_view text, Workspace& workspace);
  SyntaxTree(const SyntaxTree&) = delete;
  SyntaxTree& operator=(const SyntaxTree&) = delete;

  TSNode root() const { return ts_tree_root_node(tree_); }

 private:
  ArenaInUse memory_;
  TSTree* tree_ = nullptr;
};

// Walks the visible nodes of a tree in pre-order, without recursion. Unlike tree-sitter's cursor it keeps only the
// state for a forward walk, and creates a node only on request.
class Walk {
 public:
  explicit Walk(TSNode root);

  // The type of the current node.
  TSSymbol type() const { return type_; }
  TSNode node() const;

  // Advances to the next node; with `into`, to the first child if there is one. Returns false at the end.
  bool advance(bool into);

 private:
  struct Level {
    const Subtree* next;
    const Subtree* end;
    const TSSymbol* aliases;  // of the children that are not extras, nullptr for none
    Length position;          // start of `next`
  };

  void enter(const Subtree& parent);

  const TSTree* tree_;
  const TSLanguage* language_;
  const Subtree* current_;
  Length position_;
  TSSymbol alias_ = 0;
  TSSymbol type_ = 0;
  std::vector<Level> open_;
};

inline bool is_null(TSNode node) { return ts_node_is_null(node); }
inline TSNode child(TSNode node, TSFieldId field) { return ts_node_child_by_field_id(node, field); }
inline uint32_t first_line(TSNode node) { return ts_node_start_point(node).row + 1; }
inline uint32_t last_line(TSNode node) { return ts_node_end_point(node).row + 1; }

inline std::string_view text_of(std::string_view source, TSNode node) {
  const uint32_t begin = ts_node_start_byte(node);
  return source.substr(begin, ts_node_end_byte(node) - begin);
}

}  // namespace framedex::extractor
