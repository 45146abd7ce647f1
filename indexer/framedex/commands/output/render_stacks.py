"""Frames of stacks that have been looked up: lines to print, and JSON documents."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from framedex.base.plaintext import make_visible
from framedex.commands.output.proposals import render_proposal_line
from framedex.commands.output.terminal import Line, Span, render_location_line
from framedex.texts.places import format_location_labels

if TYPE_CHECKING:
    from framedex.text_stacks.model import TextFrame
    from framedex.text_stacks.source_lookup.frame_context import FoundFrame


def render_found_frame_lines(found: FoundFrame) -> Iterator[Line]:
    """A frame with its location, and the lines of other candidates, outer locations and labels."""
    frame = found.frame
    style = frame.language.value if frame.language else ""
    name = Span(f"  {make_visible(found.function or '(unknown)')}  ", style)
    if found.location is not None and not found.is_found_by_name:
        yield (name, *render_location_line(found.location))
    elif frame.place is not None:
        missing = "" if frame.place.path.startswith("<") else " [not here]"  # code without a file: `<string>`
        yield (name, Span(f"{make_visible(frame.place.path)}:{frame.place.line}"), Span(missing, "dim"))
    elif frame.module and frame.offset is not None:
        doubt = " [doubtful]" if found.is_doubtful else ""
        yield (name, Span(f"{make_visible(frame.module)}+{frame.offset:#x}{doubt}", "dim"))
    else:
        yield (name, Span(_format_address(frame), "dim"))
    by_name = (found.location,) if found.location is not None and found.is_found_by_name else ()
    for candidate in (*by_name, *found.candidates):
        yield (Span(f"      {found.conjunction} "), *render_location_line(candidate))
    for place in found.outward:
        yield (Span("      from "), *render_location_line(place, []))
    shown_labels = format_location_labels(found.location) if found.location is not None else ()
    for label in frame.labels:
        if label not in shown_labels:
            yield render_proposal_line(f"      {label}", "dim")


def _format_address(frame: TextFrame) -> str:
    """The address of a frame, and its binary by path or build-id if the text has it."""
    address = f"{frame.address:#x}" if frame.address is not None else ""
    if frame.build_id and frame.offset is not None:
        return f"{address} (build-id {make_visible(frame.build_id)}+{frame.offset:#x})".lstrip()
    return f"{address} in {make_visible(frame.module)}".lstrip() if frame.module else address


def build_frame_document(found: FoundFrame) -> dict[str, Any]:
    """A frame as a JSON document."""
    return {
        "function": found.function,
        "is_doubtful": found.is_doubtful,
        "language": found.frame.language,
        "location": asdict(found.location) if found.location else None,
        "place": asdict(found.frame.place) if found.frame.place else None,
        "candidates": [asdict(candidate) for candidate in found.candidates],
        "module": found.frame.module,
        "address": found.frame.address,
        "labels": list(found.frame.labels),
        "outward": [asdict(place) for place in found.frame.outward],
    }
