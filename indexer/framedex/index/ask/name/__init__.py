"""Queries that begin with a name.

Start at `matching.py` (how a text matches a name), then `functions.py`, `names.py` (lookup and completion) and
`search.py`.
"""
