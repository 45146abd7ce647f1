"""Write the index, capture by capture and batch by batch.

Start at `store.py`, then `capture.py`, `calls.py`, `stacks.py` and `objects.py`. `model/capture.py` has the batches.
`ffi.py` joins handler runs to sites, and `programs.py` stores compiled programs. `aggregates.py` computes totals along
the tree of nodes (`chain_totals.py`), and `costs/` the costs by line. `sources.py` writes source files, their
definitions and the locations of frames.
`versions.py` stores the versions of source files, and `removal.py` removes captures.
"""
