"""Queries that begin with a name.

Start at `fits.py`, then `meant.py` (functions), `inside.py` and `likely.py` (a name without calls) and `beginnings.py`
(completion).
"""
