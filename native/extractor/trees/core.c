/* tree-sitter's core, whole, with memory and a way down the parser's stack of ours. */
#include "extractor/trees/allocation.h"

#include "stack.c"

/* Takes `count` subtrees, and the extras among them, off a version of the stack, like ts_stack_pop_count: where only one
 * way leads down, as nearly everywhere, without the lists that it keeps of all ways. */
static StackSliceArray pop_count(Stack* self, StackVersion version, uint32_t count) {
  uint32_t size = 0;
  StackNode* node = array_get(&self->heads, version)->node;
  for (uint32_t popped = 0; popped < count; ++size) {
    if (node->link_count != 1 || node->links[0].subtree.ptr == NULL) return ts_stack_pop_count(self, version, count);
    popped += !ts_subtree_extra(node->links[0].subtree);
    node = node->links[0].node;
  }
  SubtreeArray subtrees = array_new();
  array_reserve(&subtrees, (uint32_t)(ts_subtree_alloc_size(count > size ? count : size) / sizeof(Subtree)));
  subtrees.size = size;
  node = array_get(&self->heads, version)->node;
  for (uint32_t i = size; i > 0; --i) {
    subtrees.contents[i - 1] = node->links[0].subtree;
    ts_subtree_retain(node->links[0].subtree);
    node = node->links[0].node;
  }
  array_clear(&self->slices);
  ts_stack__add_slice(self, version, node, &subtrees);
  return self->slices;
}

#define ts_stack_pop_count pop_count
#include "parser.c"
#undef ts_stack_pop_count

#include "alloc.c"
#include "language.c"
#include "lexer.c"
#include "node.c"
#include "point.c"
#include "subtree.c"
#include "tree.c"
#include "tree_cursor.c"
#include "get_changed_ranges.c"
#include "wasm_store.c"
