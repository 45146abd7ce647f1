"""Trace documents (`framedex.tracetext` has the format): the frame that a line shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from framedex.tracetext import FrameLine


def frame_at(text: str, line_index: int) -> FrameLine | None:
    """The frame, or the further candidate of one, on a 0-based line; None if that line points to no source."""
    from framedex.tracetext import parse_trace

    return next((frame for frame in parse_trace(text) if frame.line_index == line_index), None)
