"""Queries for calls: lists, stacks, objects and causes.

Start at `calls.py`, then `filters.py` and `totals.py`. `python_lines.py` finds the Python line behind a call,
`exported.py` serves exports, and `profiles.py` reads imported profiles.
"""
