"""Write the index, capture by capture and batch by batch.

Start at `capture.py`, then `calls.py`, `kinds.py`, `objects.py`. The batches are defined in `model/batches.py`.
`bulk.py` copies rows at a fifth of the cost of an INSERT. `ffi.py` joins handler runs to sites, `programs.py` stores
compiled programs, and `binaries.py` stores the source of native names. `moving.py` updates the paths of a moved
project, `versions.py` stores the states of source files, and `removal.py` removes captures.
"""
