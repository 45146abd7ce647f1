"""The output of verbs: text and links for terminals, JSON for programs.

Start at `terminal.py` (styled lines) and `console.py` (printing). `proposals.py` has the commands to type next,
`pipes.py` failed writes, `bars.py` progress, and `documents.py` the JSON.
"""
