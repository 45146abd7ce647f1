"""Texts that people and programs exchange: the stacks in them, whatever the format, and the source of each frame."""

from framedex.interchange.model import Format, Part, PartKind, Place, Reading, TextFrame, TextStack

__all__ = ["Format", "Part", "PartKind", "Place", "Reading", "TextFrame", "TextStack", "read"]


def read(text: str) -> Reading:
    """The stacks of a text, lines ending in `\\n`. Never raises; what was passed over is among the problems."""
    from framedex.interchange import detect  # with every format's expressions: a server starts without them

    return detect.read(text)
