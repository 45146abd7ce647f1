"""Captures and calls as HTML fragments, for the output cells of notebooks.

The HTML needs no request and no script. Without scripts and styles, as in an untrusted notebook, it still has a list,
tables and the picture of a flame graph.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import TYPE_CHECKING

from markupsafe import Markup

from framedex.commands.report.charts import drop_callers_of_cells
from framedex.commands.report.page import (
    SECTIONS,
    abbreviate,
    escape_to_ascii,
    format_device_memory,
    read_template_file,
    report_environment,
)
from framedex.commands.report.places import ReportLocations
from framedex.texts.captures import format_device_answer_heading
from framedex.texts.compilations import format_compiles_total
from framedex.texts.costs import format_transfers_total, format_waits_total
from framedex.texts.places import format_cell_name
from framedex.texts.traces import format_section_title

if TYPE_CHECKING:
    from framedex.commands.report.contents import ReportContents
    from framedex.model import FrameRow, Trace


def render_fragment(contents: ReportContents, editor: str) -> str:
    """Return the summary, costs and flame graph as HTML; `editor` is a key of `EDITORS`, for the links."""
    environment = report_environment(ReportLocations(contents.paths(), editor))
    environment.filters.update(within_cells=drop_callers_of_cells, base64=_encode_base64)
    filled = environment.get_template("fragment.html").render(
        contents=contents,
        sections=SECTIONS,
        heading=abbreviate(format_device_answer_heading(contents.answer)),
        totals={
            "compiles": format_compiles_total(contents.compiles),
            "transfers": format_transfers_total(contents.transfers),
            "memory": format_device_memory(contents.memory),
            "waits": format_waits_total(contents.waits.lines),
        },
        style=Markup(_fragment_style()),
        picture_style=Markup(read_template_file("report.css")),
        script=Markup(read_template_file("notebook.js") + read_template_file("report.js")),
    )
    return escape_to_ascii(filled)


def build_trace_fragment(trace: Trace, editor: str) -> str:
    """Return a call with its stacks as HTML."""
    frames = [frame for section in trace.sections() for frame in section.frames]
    paths = {frame.location.path for frame in frames if frame.location is not None}
    environment = report_environment(ReportLocations(paths, editor))
    environment.filters["title"] = format_section_title
    filled = environment.get_template("trace.html").render(
        trace=trace, before_cell=_count_frames_before_cell, style=Markup(_fragment_style())
    )
    return escape_to_ascii(filled)


def render_facts_fragment(heading: str, facts: Sequence[tuple[str, str]]) -> str:
    """Return a table of named facts as HTML."""
    template = report_environment(ReportLocations((), "none")).get_template("facts.html")
    return escape_to_ascii(template.render(heading=heading, facts=facts, style=Markup(_fragment_style())))


def _count_frames_before_cell(frames: Sequence[FrameRow]) -> int:
    """The number of outermost frames before the first frame in a notebook cell."""
    places = (frame.location.path if frame.location is not None else "" for frame in frames)
    return next((number for number, path in enumerate(places) if format_cell_name(path)), 0)


def _fragment_style() -> str:
    """The styles of a report, restricted to the fragment, with the colours of the notebook."""
    report_css = read_template_file("report.css").replace(":root", "&")
    return f".framedex {{\n{report_css}{read_template_file('notebook.css')}}}\n"


def _encode_base64(text: str) -> str:
    return base64.b64encode(escape_to_ascii(text).encode()).decode()
