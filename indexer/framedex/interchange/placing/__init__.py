"""The source of a frame of a text, checked against the local files.

Start at `resolve.py`, then `released.py` (a release without local sources), `inward.py`, `binaries.py` and
`calls.py` (the line of a function), `versions.py` and `same_build.py` (whether a file is the right version),
`checkouts.py`.
"""
