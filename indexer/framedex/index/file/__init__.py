"""The index as a file: opening, schema, and detection of changes by other programs.

Start at `schema.sql`, then `schema.py` and `database.py`. `conventions.py` and `values.py` are shared by writers and
readers of the tables. `seal.py` and `soundness.py` detect damage, and `log_space.py` handles a full disk.

Invariants:
- A writer empties the seal before it writes. It fills the seal under an exclusive lock, after it has closed the file.
- The process never closes a descriptor of an index file that SQLite may have open: that would drop SQLite's locks.
- An unexpected exception counts as damage only with evidence, in `soundness.py`.
"""
