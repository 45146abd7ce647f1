"""The frames of a trace document that point to source, in the form that tests compare."""

from __future__ import annotations

from dataclasses import dataclass

from framedex.text_stacks import StackFormat, read


@dataclass(frozen=True)
class FrameLine:
    """A 0-based line of the document, and its target."""

    line_index: int
    path: str
    line: int
    function: str


def parse_trace(text: str) -> list[FrameLine]:
    """The located frames and candidates of a trace document, in its order."""
    return [
        FrameLine(frame.first_line, frame.place.path, frame.place.line, frame.function)
        for frame in read(text).frames()
        if frame.format is StackFormat.TRACE and frame.place is not None
    ]
