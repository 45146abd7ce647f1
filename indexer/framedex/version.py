"""The version of framedex: what git's tags said of the sources when they were built.

scripts/release/source_version.py asks them. It is what importlib.metadata says too (a test compares them), which takes a quarter of what a short verb does.
"""

try:
    from framedex._version import VERSION as VERSION  # type: ignore[import-not-found]
except ModuleNotFoundError:  # sources that nobody installed, on a PYTHONPATH
    VERSION = "0+unknown"
