"""The pytest plug-in: limits for a test's compilations, transfers and memory, its recording, and replays of others.

Start at `plugin.py`, which pytest loads, then `hooks.py`, `recorded_tests.py` and `child_process.py`. The plug-in
imports nothing else of framedex before a test asks for it.
"""
