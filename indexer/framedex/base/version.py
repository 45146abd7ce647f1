"""The version of framedex, from git tags when the package was built (scripts/release/).

importlib.metadata has the same version (a test compares them), but takes a quarter of the time of a short verb.
"""

try:
    from framedex._version import VERSION as _BUILT
except ModuleNotFoundError:  # uninstalled sources on a PYTHONPATH
    _BUILT = "0+unknown"

VERSION: str = _BUILT
