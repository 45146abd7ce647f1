"""The queries of an index, one package per subject.

`sql.py` runs the SQL of users and agents, `frame_sources.py` finds the origin of each line, and `below_lines.py` reads
the stacks below lines for a diff.
"""
