"""Inputs of verbs: files, filters, logs and pasted text.

Start at `pasted.py` (a clicked or pasted text), `unrecorded.py` (a name without calls), `sides.py` (the two
recordings of a diff), `budgets.py` and `renewal.py` (an index of an earlier version).
"""
