"""Costs by line, and comparison of recordings."""
