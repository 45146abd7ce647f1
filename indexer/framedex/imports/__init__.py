"""Recordings of other tools as captures.

Start at `reading.py`, then `readers/` (one file per format), `building.py`, `stream.py` and `copying.py`.

Each sample of an imported profile becomes a row. The totals of its kind contain its weight: a count or a time. The
metadata of such a capture has `foreign`. A frame that another recorder named has no binary and no instruction address.
"""
