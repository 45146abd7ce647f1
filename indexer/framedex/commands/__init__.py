"""The command line: `main.py` has the table of verbs, and `verbs/` one file per verb.

Invariants:
- Verbs do not import each other, and only the table in `main.py` imports them.
- A verb that reads never imports recording, indexing or the server. Imports are nine tenths of its run time.
- A proposed command works as printed: it appears in backquotes and passes through `output/proposals.py`.
- A failed write to a pipe or a file ends the verb in one sentence: `output/pipes.py`.
"""
