"""Captures on disk: finding them, decoding them. Nothing outside this package knows their format."""

from framedex.captures.folders import capture_folders, captures_below
from framedex.captures.reader import fingerprint_of, read_capture

__all__ = ["capture_folders", "captures_below", "fingerprint_of", "read_capture"]
