"""The command line: `main.py` has the table of verbs, and `verbs/` one file per verb.

Invariants:
- Verbs do not import each other, and only the table in `main.py` imports them.
- A verb that reads never imports recording, indexing or the server, because imports are nine tenths of its run time.
- A proposed command works as printed. It appears in backquotes, and `output/proposals.py` rewrites it.
- A failed write to a pipe or a file ends the verb with one message: `output/pipes.py`.
"""
