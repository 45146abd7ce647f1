"""Differences between two recordings: by function, by line with its stacks, and by loop.

Start at `comparison.py`, then `recorded.py`, `alignment.py`, `stack_paths.py` and `noise.py`. docs/how-to/compare.md is
the user's page.
"""
