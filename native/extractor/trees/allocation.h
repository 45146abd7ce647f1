/* The allocation functions of tree-sitter's core (arena.cc), called directly instead of through pointers. C header. */
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

void* framedex_allocate(size_t size);
void* framedex_allocate_zeroed(size_t count, size_t size);
void* framedex_reallocate(void* memory, size_t size);
void framedex_release(void* memory);

#ifdef __cplusplus
}
#else
#define ts_malloc framedex_allocate
#define ts_calloc framedex_allocate_zeroed
#define ts_realloc framedex_reallocate
#define ts_free framedex_release
#endif
