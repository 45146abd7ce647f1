"""The user's editor: which it is, and how it is told a line."""
