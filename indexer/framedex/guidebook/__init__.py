"""The guidebook: observations of the runtime's API functions, from captures.

Start at `observing.py` (captures), `described.py` (functions that no program called) and `programs.py`; `site/`
writes the pages, `notes/` has the hand-written texts.
"""
