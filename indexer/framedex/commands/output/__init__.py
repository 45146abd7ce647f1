"""The output of verbs: text and links for terminals, JSON for programs.

Start at `proposals.py` (commands to type next), `pipes.py` (failed writes) and `bars.py` (progress).
"""
