"""Reading rows: the connection, the model types, and caches.

Start at `places.py` (where a recorded line is now), `asked.py` (the lines of one statement), `spans.py` (few of many
calls), `scope.py` (the captures that count) and `memory.py` (the cache of one read transaction).
"""
