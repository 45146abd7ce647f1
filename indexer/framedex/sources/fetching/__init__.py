"""Download sources at a recorded commit into a cache that all projects share.

Start at `fetch.py`, then `wanted.py` (the commit to fetch), `store.py` (git objects and checkouts) and `suppliers.py`
(remote repositories and local clones).
Import modules of this package directly: settings need the addresses alone.

Invariants:
- A fetched checkout is complete or absent, in a folder named by the commit.
- A writer holds the lock of the component's part of the cache, and so does the git process that it starts.
- Only this package lets git use the network or write, and only in repositories that framedex created.
"""
