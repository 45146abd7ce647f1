"""Captures of many processes and hosts in one store of Parquet files, queried by DuckDB: docs/how-to/fleet.md.

Start at:
- `adding.py`, then `store_root.py`, `identities.py`, `rows.py`, `calls.py`: add a capture, complete and once
- `origin.py`: the job of a capture
- `store_queries.py`, then `views.sql` and `prepared_queries.py`: SQL and prepared queries
- `segments.py`, `pulling.py`: copy captures into an index
- `compacting.py` and `dropping.py`, then `committed.py`, `drops.py`, `marks.py`, `needs.py`, `sweeping.py`: keep a
  store small
- `schema.py`: the columns of a store
- `cluster/`: add captures by many processes
- `ranks/`: the ranks of one job
- `running/`: the ranks of a job that still runs or hangs, without a store
"""
