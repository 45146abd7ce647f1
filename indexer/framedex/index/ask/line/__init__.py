"""Queries for a source line and the stacks through it.

Start at `line.py`, then `stacks.py`, `stack_paths.py` (an editor's steps along stacks), `programs.py` (compiled
programs) and `static_calls.py`.
"""
