"""Source locations for the frames of a text, checked against the local files.

Start at `resolve.py`, then `functions.py` (functions by name), `released.py` (releases without local sources),
`frame_context.py` (callees and quoted lines) and `binaries.py` (addresses and calls). `versions.py` and `builds.py`
check whether a file has the right version. `versions.py` also finds lines of public repositories in local checkouts.
"""
