"""Writes a capture to one file for another machine, redacted on request: docs/how-to/share.md.

Start at `writing.py`, then `encoding.py`, `naming.py`, `excerpts.py` and `redaction.py`; `harmless.py` and
`definitions.py` list the values that may stay.

Redaction keeps only values that a rule allows. It empties every dataclass first (`emptying.py`), so a new field stays
empty until a rule fills it.
"""
