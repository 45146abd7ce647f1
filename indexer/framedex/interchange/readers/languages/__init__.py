"""Stacks of other languages, which appear in the same logs."""
