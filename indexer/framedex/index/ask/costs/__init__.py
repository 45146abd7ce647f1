"""Costs by line: compilations (`compilations.py`, `changes.py`); memory, transfers and waits (`line_costs.py`)."""
