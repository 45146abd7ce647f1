"""Recordings of other tools as captures.

Start at `reading.py`, then `readers/` (one file per format), `building.py`, `stream.py` and `copying.py`.

A sample of an imported profile becomes a row. The totals of its kind hold its weight, a count or a time. Its capture is
marked `foreign`. A frame that another recorder named has no binary and no instruction address.
"""
