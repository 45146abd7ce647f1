"""Budgets: upper limits of lines' compilations, transfers and memory, checked against a recording.

Start at `patterns.py`, then `judging.py` and `telling.py`. docs/how-to/ci.md is the user's page.
"""
