"""Writing the index: captures and sources, each in one transaction."""
