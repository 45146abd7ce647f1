"""Writing the index: captures batch by batch, and sources, each step in a transaction that leaves it whole."""
