"""Captures of many processes and hosts in one store of Parquet files, by engines that exist: docs/fleet.md.

`adding.py` puts captures into a store, `asking.py` asks it by SQL, `pulling.py` takes captures into an index,
`compacting.py` and `dropping.py` keep it small; `schema.py` says what lies in it. In `cluster/` many processes add, in
`ranks/` the ranks of a job are held against one another.
"""
