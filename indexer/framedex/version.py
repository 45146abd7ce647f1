"""The version of framedex: what git's tags said of the sources when they were built (scripts/release/).

importlib.metadata says the same (a test compares them), but takes a quarter of what a short verb does.
"""

try:
    from framedex._version import VERSION as _BUILT
except ModuleNotFoundError:  # sources that nobody installed, on a PYTHONPATH
    _BUILT = "0+unknown"

VERSION: str = _BUILT
