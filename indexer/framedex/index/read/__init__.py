"""Reading rows: the connection, the model types made of what it returns, and what is remembered of it."""
