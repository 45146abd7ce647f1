"""Queries for calls: lists, stacks, objects and causes.

Start at `calls.py`, then `filters.py` (with `boundaries_like` and `boundaries_that_work`) and `totals.py`.
`exported.py` serves exports; `profiled.py` joins an imported profile to recorded calls.
"""
