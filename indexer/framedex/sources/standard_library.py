"""The calls that compilers leave in machine code when they inline functions of the C++ standard library (libstdc++).

The library's text is not in the indexed sources, so its bodies are listed here: by the written name, the functions that
remain as calls. Read in libstdc++ 12 and 14.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

_TREE_INSERT = (
    *("_M_emplace_hint_unique", "_M_emplace_unique", "_M_insert_unique", "_M_insert_unique_", "_M_insert_"),
    *("_M_insert_equal", "_M_emplace_equal", "_M_get_insert_unique_pos", "_M_get_insert_hint_unique_pos"),
    *("_M_insert_unique_node", "_M_insert_multi_node", "_Rb_tree_insert_and_rebalance", "_M_hook"),
)
_STRING_APPEND = ("_M_append", "_M_replace_aux")
_STRING_ASSIGN = ("_M_assign", "_M_replace", "_M_replace_aux")
_APPEND = ("_M_realloc_insert", "_M_realloc_append", "_M_push_back_aux", "_M_hook")
_INSERT = ("_M_realloc_insert", "_M_insert_aux", "_M_fill_insert", "_M_range_insert", "_M_insert_rval", *_TREE_INSERT)

_BODIES: Mapping[str, tuple[str, ...]] = {
    "append": _STRING_APPEND,
    "assign": ("_M_assign_aux", "_M_fill_assign", *_STRING_ASSIGN),
    "clear": ("_M_erase", "_M_clear", "_M_erase_at_end"),
    "emplace": _INSERT,
    "emplace_back": _APPEND,
    "emplace_front": ("_M_push_front_aux", "_M_hook"),
    "endl": ("put", "flush", "_M_widen_init"),
    "erase": ("_M_erase", "_M_erase_aux", "_M_replace", "_M_unhook", "_Rb_tree_rebalance_for_erase"),
    "insert": ("_M_replace", "_M_replace_aux", *_INSERT),
    "lock_guard": ("pthread_mutex_lock",),
    "operator+": (*_STRING_APPEND, *_STRING_ASSIGN),
    "operator+=": _STRING_APPEND,
    "operator<<": ("__ostream_insert", "_M_insert"),
    "operator=": ("_M_assign_aux", "_M_erase", "_M_erase_at_end", *_STRING_ASSIGN),
    "operator>>": ("_M_extract",),
    "operator[]": _TREE_INSERT,
    "pop_back": ("_M_pop_back_aux", "_M_unhook"),
    "pop_front": ("_M_pop_front_aux", "_M_unhook"),
    "push_back": _APPEND,
    "push_front": ("_M_push_front_aux", "_M_hook"),
    "replace": ("_M_replace", "_M_replace_aux"),
    "reserve": ("_M_create", "_M_reallocate"),
    "resize": ("_M_default_append", "_M_fill_insert", "_M_replace_aux", "_M_new_elements_at_back"),
    "sort": ("__introsort_loop", "__insertion_sort", "__final_insertion_sort", "__adjust_heap"),
    "splice": ("_M_transfer",),
    "stable_sort": ("__inplace_stable_sort", "__stable_sort_adaptive", "__merge_adaptive"),
    "string": ("_M_construct", "_M_create"),
    "substr": ("_M_construct", "_M_create"),
    "thread": ("_M_start_thread",),
    "to_string": ("_M_construct", "_M_replace_aux", "__to_chars_10_impl"),
    "try_emplace": _TREE_INSERT,
    "unique_lock": ("pthread_mutex_lock",),
    "~deque": ("operator delete",),
    "~list": ("operator delete",),
    "~lock_guard": ("pthread_mutex_unlock",),
    "~map": ("_M_erase",),
    "~set": ("_M_erase",),
    "~shared_ptr": ("_M_release", "_M_release_last_use", "_M_release_last_use_cold"),
    "~string": ("operator delete",),
    "~unique_lock": ("pthread_mutex_unlock",),
    "~unique_ptr": ("operator delete",),
    "~unordered_map": ("operator delete",),
    "~unordered_set": ("operator delete",),
    "~vector": ("operator delete",),
}

REMAINING_CALLEES = frozenset(name for names in _BODIES.values() for name in names)
"""The functions that remain as calls."""


def count_calls_in_standard_body(name: str) -> Counter[str]:
    """The functions that a standard function with this name calls; empty for another name."""
    return Counter(_BODIES.get(name, ()))
