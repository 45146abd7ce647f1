"""framedex in notebooks: `%load_ext framedex`, then `%%framedex` records a cell and shows what it did.

`extension.py` is what IPython loads; nothing else of framedex needs IPython.
"""
