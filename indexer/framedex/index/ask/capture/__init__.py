"""Queries for a whole capture: start at `contents.py`, then `flame.py`; `timeline.py` shows threads."""
