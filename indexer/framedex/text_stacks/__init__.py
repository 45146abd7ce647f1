"""Stack traces in texts of any supported format, and the source location of each frame.

Start at `lines.py`, then `readers/` (one file per family of formats) and `detect.py`. `stream.py` annotates logs while
they are written. `source_lookup/` finds source locations.

Invariants:
- A text is parsed in one pass, in linear time and bounded memory. Parsing opens no other file.
- A location is exact only if the file agrees with the text: its length, the function, and the stated release.
- A streamed log loses no byte and is never delayed. A failed look-up ends the notes, not the log.
- Lines of one form are parsed once (`native/line_scanner/`). The notes are the same without that cache.
"""

from framedex.text_stacks.model import ParsedText, PartKind, StackFormat, TextFrame, TextLocation, TextPart, TextStack

__all__ = ["ParsedText", "PartKind", "StackFormat", "TextFrame", "TextLocation", "TextPart", "TextStack", "read"]


def read(text: str) -> ParsedText:
    r"""Return the stacks of a text with `\n` line endings. Never raises: skipped lines are reported as problems."""
    from framedex.text_stacks import detect

    return detect.read(text)
