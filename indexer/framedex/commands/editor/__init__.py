"""Open a source line in the user's editor or browser.

Start at `editors.py`, which chooses the editor and builds its command line. `browser.py` is the only module that starts
a browser, only at the user's request, and only with a web address.
"""
