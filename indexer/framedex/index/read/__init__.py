"""Read rows from the index: the connection, the model types and the cache.

Start at `rows.py` (the connection, and the captures that an answer covers) and `subjects.py` (the file, line or capture
of a query). Then read `locations.py` (recorded lines mapped to current ones, and URLs), `spans.py` (a few calls among
millions) and `query_cache.py` (the cache of one read transaction).
"""
