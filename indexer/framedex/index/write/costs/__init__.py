"""Costs of a capture by program line, computed while the capture is written.

- `transfers.py`, `callback_transfers.py`: copies between host and devices
- `memory.py`, then `allocations.py` (the mock) or `buffers.py`: live memory, and its growth per iteration of a loop
- `waits.py`, then `activity.py`, `wait_detection.py`, `timeline.py`: waits of Python threads
- `loops.py`, then `program_code.py`: loops of the program
"""
