"""The pytest plug-in: limits of a test's compilations, transfers and memory, and its recording.

Start at `plugin.py`, which pytest loads, then `hooks.py`, `arranging.py` and `apart.py` (a process of its own). The
plug-in imports nothing else of framedex before a test asks for it.
"""
