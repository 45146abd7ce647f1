"""The guidebook: observations of the runtime's API functions, from captures.

Start at `observations.py` (captures and their programs), then `api_functions.py` (functions that no program called).
`site/` writes the pages, `notes/` has the hand-written texts.
"""
