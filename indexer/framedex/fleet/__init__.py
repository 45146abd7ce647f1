"""Captures of many processes and hosts in one store of Parquet files, by engines that exist: docs/fleet.md.

`adding.py` puts captures into a store, `asking.py` asks it by SQL; `schema.py` says what lies in it.
"""
