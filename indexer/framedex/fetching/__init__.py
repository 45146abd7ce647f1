"""Fetching: the sources of what was recorded, at its commit, into a cache that all projects share.

Imported by module: what reads settings needs the addresses alone.
"""
