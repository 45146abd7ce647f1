"""Queries for a source line and the stacks through it.

Start at `line.py`, then `standing.py`, `roads.py` and `outward.py` (an editor's steps along stacks), `programs.py`
(compiled programs) and `static_callers.py`.
"""
