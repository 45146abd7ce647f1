"""Questions about a source line and the stacks through it.

Start at `line.py`, then `standing.py`, `roads.py` and `outward.py` (steps of an editor), `programs.py` (compiled
programs) and `static_callers.py`.
"""
