"""Parsers of stacks of other languages, which appear in the same logs."""
