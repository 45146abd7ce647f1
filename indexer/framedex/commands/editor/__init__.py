"""Open a source line in the user's editor or browser.

Start at `choice.py` (the editor) and `places.py` (the lines that a pasted text names). `browser.py` is the only
module that starts a browser. It starts one only at the user's request, and only with a web address.
"""
