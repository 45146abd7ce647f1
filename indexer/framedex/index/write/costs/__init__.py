"""Sums of a capture for the cost questions, computed while it is written.

- `transfers.py`, `transfer_ways.py`: copies between host and devices
- `memory.py`, then `allocations.py` (the mock) or `buffers.py` and `results.py`, and `memory_lines.py`: live memory
- `waits.py`, then `activity.py`, `blocked.py`, `unseen.py`, `timeline.py`: waits of Python
- `loops.py`, then `program_code.py`: loops of the program; `growth.py`: growth by rounds
"""
