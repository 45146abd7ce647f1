"""Reading rows: the connection, the model types, and caches.

Start at `places.py` (the current line of a recorded one) and `asked.py` (the lines of one statement). Then read
`spans.py` (sparse kinds of calls), `scope.py` (the counted captures) and `memory.py` (the cache of one read
transaction).
"""
