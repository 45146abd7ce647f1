"""The MCP server: verbs as tools with bounded answers.

Start at `tools.py`, then `server.py`. `verb_process.py` runs a verb in a separate process, read-only and with a time
limit. `pages.py` has pagination, `excerpts.py` the files that an agent may read, and `query_process.py` SQL.
"""
