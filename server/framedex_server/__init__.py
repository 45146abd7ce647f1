"""The language server: recorded calls of a source line, in every editor that speaks LSP.

Start at `server.py`, then `features/` (one LSP feature per file) and `answers/` (their common parts). `worker.py`,
`jobs.py` and `arrivals.py` index in a process of their own. `admission.py`, `sockets.py`, `acceptor.py` and
`logs.py` guard a server that listens on a port.

Invariants:
- An answer is one read transaction (`Index.reading`). Outside of it nothing is cached.
- Indexing runs in another process, so no answer waits for it.
- A port is on the loopback and requires a token before anything else.
- Lines have three ages: recorded, on disk, and shown. Features speak of lines on disk only; `documents/unsaved.py`
  maps them to the buffer.
- The server writes every text about recordings, once for all editors.
- Lines and frames count from 0 on the wire, and from 1 in texts.
"""
