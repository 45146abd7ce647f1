"""The queries of an index, one package per subject.

`answers.py` has their common parts, `sql.py` the SQL of users and agents, `frame_sources.py` the origin of each line,
`below_lines.py` the stacks below lines, for a diff.
"""
