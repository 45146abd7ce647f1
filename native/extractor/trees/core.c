/* The whole of tree-sitter's core, with our own allocator and a faster function to pop the parser's stack. */
#include "extractor/trees/allocation.h"

#include "stack.c"

/* Pops `count` subtrees, and the extras among them, off a version of the stack, like ts_stack_pop_count. If only one path
 * leads down the stack, which is the usual case, it needs no lists of paths. */
static StackSliceArray pop_count_without_lists(Stack* self, StackVersion version, uint32_t count) {
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

#define ts_stack_pop_count pop_count_without_lists
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
