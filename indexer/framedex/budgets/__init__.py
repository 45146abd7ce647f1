"""Budgets: upper limits of lines' compilations, transfers and memory, checked against a recording.

Start at `model.py`, then `verdicts.py`. docs/how-to/ci.md is the user's page.
"""
