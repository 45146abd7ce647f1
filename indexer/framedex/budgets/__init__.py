"""Budgets: what lines of a program may compile, move and hold at most, and whether a recording keeps to that."""
