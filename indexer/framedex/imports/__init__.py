"""Recordings of other tools as captures.

Start at `reading.py`, then `readers/` (one file per format), `building.py`, `stream.py` and `keeping.py`.

A sample of an imported profile is a row. Its weight, a count or a time, is in the totals of its kind. Its capture is
marked `foreign`. A frame that another recorder named has no binary and no instruction.
"""
