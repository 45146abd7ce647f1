"""Stacks in texts of every format, and the source of each frame.

Start at `lines.py`, then `readers/` (one file per family of formats) and `detect.py`; `stream.py` and
`situations.py` serve logs that are still being written, `placing/` finds sources.

Invariants:
- Reading a text is one pass, linear and bounded. It opens no other file.
- A place is exact only in a file that agrees with the text: its length, the function, and the stated release.
- A streamed log loses no byte and waits for nothing. A failed look-up ends the notes, not the log.
- Lines of one form are read once (`native/line_scanner/`). The notes are the same without that cache.
"""

from framedex.interchange.model import Format, Part, PartKind, Place, Reading, TextFrame, TextStack

__all__ = ["Format", "Part", "PartKind", "Place", "Reading", "TextFrame", "TextStack", "read"]


def read(text: str) -> Reading:
    """The stacks of a text, lines ending in `\\n`. Never raises; what was passed over is among the problems."""
    from framedex.interchange import detect  # with every format's expressions: a server starts without them

    return detect.read(text)
