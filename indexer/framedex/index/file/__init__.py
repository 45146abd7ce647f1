"""The index as a file: opening, schema, and detection of foreign changes.

Start at `schema.sql`, then `schema.py`; `seal.py` and `soundness.py` detect damage; `log_space.py` keeps room for a
full disk; `source_texts.py` stores recorded source texts.

Invariants:
- A writer empties the seal before it writes. It fills the seal alone, after it has closed the file.
- No descriptor of an index file is closed while the process may have it open in SQLite: the locks would go with it.
- An unexpected exception counts as damage only with evidence, in `soundness.py`.
"""
