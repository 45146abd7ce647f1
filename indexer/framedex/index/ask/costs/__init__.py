"""Costs by line: `compiles.py` with `changes.py`, `transfers.py`, `memory.py`, `waits.py`."""
