"""Recorded calls in the formats of other viewers, one file per format.

Start at `content.py` (the data that every format needs), then `weights.py` and `formats.py`.
"""
