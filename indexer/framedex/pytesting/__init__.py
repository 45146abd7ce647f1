"""The plug-in of pytest: tests that say what their body may compile, move and hold at most, and look at what it did.

`plugin.py` is what pytest loads; nothing else of framedex is imported before a test asks for it.
"""
