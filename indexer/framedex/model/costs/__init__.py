"""Rows of costs by line: compilations, transfers, memory and waits."""
