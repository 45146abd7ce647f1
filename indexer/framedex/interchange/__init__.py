"""Texts that people and programs exchange: the stacks in them, whatever the format, and the source of each frame."""

from framedex.interchange.detect import read
from framedex.interchange.model import Format, Part, PartKind, Place, Reading, TextFrame, TextStack

__all__ = ["Format", "Part", "PartKind", "Place", "Reading", "TextFrame", "TextStack", "read"]
