"""Recording inside other programs: `notebook/`, and `pytesting/` for pytest. Both use `process_recorder.py`."""
