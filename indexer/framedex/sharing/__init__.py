"""Writes a capture into one file for another machine, redacted on request: docs/how-to/share.md.

Start at `writing.py`, then `naming.py`, `excerpts.py` and `redaction.py`; `harmless.py` and `definitions.py` list
what may stay.

A redacted file has only what a rule keeps. Every dataclass is emptied first (`emptying.py`), so a new field is empty
until a rule fills it.
"""
