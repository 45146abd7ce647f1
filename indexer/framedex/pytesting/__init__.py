"""The pytest plug-in: limits for what a test compiles, transfers and holds, and its recording.

Start at `plugin.py`, which pytest loads, then `hooks.py`, `arranging.py` and `apart.py` (a process of its own). The
plug-in imports nothing else of framedex before a test asks for it.
"""
