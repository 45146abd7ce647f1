/* tree-sitter's core, whole, with memory and reference counts of ours in place of its own. */
#include "extractor/trees/allocation.h"
#include "extractor/trees/reference_counts.h"

#include "lib.c"
