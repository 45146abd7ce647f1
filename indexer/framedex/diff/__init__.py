"""Differences between two recordings: by function, by line with its stacks, and by loop.

Start at `comparing.py`, then `recorded.py`, `aligning.py`, `roads.py` and `noise.py`. docs/how-to/compare.md is the
user's page.
"""
