"""Source locations for the frames of a text, checked against the local files.

Start at `resolve.py`, then `released.py` (releases without local sources), `inward.py`, `binaries.py` and
`calls.py` (the line of a call). `versions.py` and `same_build.py` check whether a file has the right version.
`checkouts.py` finds lines of public repositories in local checkouts.
"""
