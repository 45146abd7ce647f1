#ifndef FRAMEDEX_EXTRACTOR_SYNTAX_TREE_H_
#define FRAMEDEX_EXTRACTOR_SYNTAX_TREE_H_

#include <tree_sitter/api.h>

#include <cstdint>
#include <string_view>

#include "extractor/arena.h"
#include "extractor/grammar.h"

namespace framedex::extractor {

// The parse of one file, in bounded time and memory. Its nodes live in the arena: no two trees in one at a time.
class SyntaxTree {
 public:
  // Throws std::runtime_error where the text is so far from the language that it would take too long or too much.
  SyntaxTree(const Grammar& grammar, std::string_view text, Arena& arena);
  SyntaxTree(const SyntaxTree&) = delete;
  SyntaxTree& operator=(const SyntaxTree&) = delete;

  TSNode root() const { return ts_tree_root_node(tree_); }

 private:
  ArenaInUse memory_;
  TSTree* tree_ = nullptr;
};

// Goes through the nodes of a tree from outside inwards, in order, without recursion.
class Walk {
 public:
  explicit Walk(TSNode root) : cursor_(ts_tree_cursor_new(root)) {}
  Walk(const Walk&) = delete;
  Walk& operator=(const Walk&) = delete;
  ~Walk() { ts_tree_cursor_delete(&cursor_); }

  TSNode node() const { return ts_tree_cursor_current_node(&cursor_); }

  // To the next node; with `into`, to one inside of the current if there is one. False at the end.
  bool advance(bool into) {
    if (into && ts_tree_cursor_goto_first_child(&cursor_)) return true;
    while (!ts_tree_cursor_goto_next_sibling(&cursor_)) {
      if (!ts_tree_cursor_goto_parent(&cursor_)) return false;
    }
    return true;
  }

 private:
  TSTreeCursor cursor_;
};

inline bool is_null(TSNode node) { return ts_node_is_null(node); }
inline uint32_t first_line(TSNode node) { return ts_node_start_point(node).row + 1; }
inline uint32_t last_line(TSNode node) { return ts_node_end_point(node).row + 1; }

inline std::string_view text_of(std::string_view source, TSNode node) {
  const uint32_t begin = ts_node_start_byte(node);
  return source.substr(begin, ts_node_end_byte(node) - begin);
}

}  // namespace framedex::extractor

#endif  // FRAMEDEX_EXTRACTOR_SYNTAX_TREE_H_
