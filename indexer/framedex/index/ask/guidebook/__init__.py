"""Queries of the guidebook for one capture; start at `capture.py`."""
