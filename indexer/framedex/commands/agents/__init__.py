"""The MCP server: verbs as tools with bounded answers.

Start at `tools.py`, then `server.py`. `asking.py` runs a verb in a process of its own, read-only and with a time limit.
`pages.py` has pagination, `excerpts.py` the files that an agent may read, and `query_process.py` SQL.
"""
