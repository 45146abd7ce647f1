"""Writes a capture into one file, to be looked at where neither the program nor its sources are: docs/sharing.md."""
