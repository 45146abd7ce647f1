"""Budgets: upper limits for what lines compile, transfer and hold, checked against a recording.

Start at `patterns.py`, then `judging.py` and `telling.py`. docs/how-to/ci.md is the user's page.
"""
