"""Path resolution: the local file of a recorded path, and whether it exists.

Start at `precedence.py`, then `files.py` and `moved_files.py`. docs/explanation/sources.md ("Which file a path means")
has the order of the rules. Only this package checks whether a source file exists, once per answer.
"""
