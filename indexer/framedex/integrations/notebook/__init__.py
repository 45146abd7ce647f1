"""framedex in notebooks: `%load_ext framedex`, then `%%framedex` records a cell and shows its costs.

Start at `extension.py`, which IPython loads, then `kernel.py`, `recording.py` and `answers.py`. Nothing else of
framedex needs IPython.
"""
