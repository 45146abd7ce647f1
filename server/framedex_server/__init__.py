"""The language server: recorded calls of a source line, in every editor that speaks LSP.

Start at `server.py`, then `features/` (requests and commands) and `answers/` (code that features share). `indexes.py`
owns the open indexes. `jobs.py` finds finished recordings, and `worker.py` indexes them in a separate process.
`sockets.py`, `admission.py` and `logs.py` protect a server that listens on a port.

Invariants:

- An answer is one read transaction (`Index.reading`). Nothing is cached outside the transaction.
- Indexing runs in another process, so no answer waits for it.
- A port listens on the loopback only, and its clients must send a token first.
- A line number refers to the recording, the file on disk, or the buffer. Features use lines on disk only;
  `UnsavedEdits` (`documents/open_documents.py`) maps them to the buffer.
- The server writes every text about recordings, once for all editors.
- Lines and frames count from 0 on the wire, and from 1 in texts.
"""
