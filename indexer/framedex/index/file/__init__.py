"""The index as a file: opening, schema, and detection of foreign changes.

Start at `schema.sql`, then `schema.py`. `seal.py` and `soundness.py` detect damage, `log_space.py` handles a full disk,
`source_texts.py` stores recorded source texts.

Invariants:
- A writer empties the seal before it writes. It fills the seal with an exclusive lock, after it has closed the file.
- The process never closes a descriptor of an index file that SQLite may have open: that would drop SQLite's locks.
- An unexpected exception counts as damage only with evidence, in `soundness.py`.
"""
