"""Writing the index, capture by capture and batch by batch.

Start at `capture.py`, then `calls.py`, `kinds.py`, `objects.py`; the batches are in `model/batches.py`. `bulk.py`
writes rows at a fifth of an INSERT's cost. `ffi.py` joins handler runs, `programs.py` compiled programs,
`binaries.py` names, `moving.py` follows a moved project, `versions.py` the states of source files, `removal.py`
removes captures.
"""
