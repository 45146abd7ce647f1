"""Queries for a whole capture: `contents.py`, then `tree.py` and `flame.py`; `timeline.py` shows threads."""
