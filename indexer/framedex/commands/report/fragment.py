"""Captures as a part of another page: an output of a notebook.

The HTML needs no request and no script. Without scripts and styles, as in an untrusted notebook, it still has a list,
tables and the picture of a flame graph.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import TYPE_CHECKING

from markupsafe import Markup

from framedex.commands.report.filling import SECTIONS, brief, in_ascii, memory_of, part, report_environment
from framedex.commands.report.flames import within_cells
from framedex.commands.report.places import Places
from framedex.costtext import compiles_total, transfers_total, waits_total
from framedex.placetext import cell_name
from framedex.scopetext import answer_heading
from framedex.tracetext import section_title

if TYPE_CHECKING:
    from framedex.commands.report.contents import Contents
    from framedex.model import FrameRow, Trace


def fragment(contents: Contents, editor: str) -> str:
    """The summary, the four answers and the flame graph as HTML; `editor` is a key of `EDITORS`, for its links."""
    environment = report_environment(Places(contents.paths(), editor))
    environment.filters.update(within_cells=within_cells, base64=_base64)
    filled = environment.get_template("fragment.html").render(
        contents=contents,
        sections=SECTIONS,
        heading=brief(answer_heading(contents.answer)),
        totals={
            "compiles": compiles_total(contents.compiles),
            "transfers": transfers_total(contents.transfers),
            "memory": memory_of(contents.memory),
            "waits": waits_total(contents.waits.lines),
        },
        style=Markup(_style()),
        picture_style=Markup(part("report.css")),
        script=Markup(part("notebook.js") + part("report.js")),
    )
    return in_ascii(filled)


def trace_fragment(trace: Trace, editor: str) -> str:
    """A call with its stacks as HTML."""
    frames = [frame for section in trace.sections() for frame in section.frames]
    paths = {frame.location.path for frame in frames if frame.location is not None}
    environment = report_environment(Places(paths, editor))
    environment.filters["title"] = section_title
    filled = environment.get_template("trace.html").render(
        trace=trace, before_cell=_before_cell, style=Markup(_style())
    )
    return in_ascii(filled)


def facts_fragment(heading: str, facts: Sequence[tuple[str, str]]) -> str:
    """Named facts about one object as HTML."""
    template = report_environment(Places((), "none")).get_template("facts.html")
    return in_ascii(template.render(heading=heading, facts=facts, style=Markup(_style())))


def _before_cell(frames: Sequence[FrameRow]) -> int:
    """The number of outermost frames before the first frame in a notebook cell: the same for all cells."""
    places = (frame.location.path if frame.location is not None else "" for frame in frames)
    return next((number for number, path in enumerate(places) if cell_name(path)), 0)


def _style() -> str:
    """The styles of a report, restricted to our element, with the colours of its surroundings."""
    return f".framedex {{\n{part('report.css').replace(':root', '&')}{part('notebook.css')}}}\n"


def _base64(text: str) -> str:
    return base64.b64encode(in_ascii(text).encode()).decode()
