"""The page of `framedex diff`, built from the same parts as a report."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from framedex.commands.report.charts import BOX_HEIGHT
from framedex.commands.report.page import abbreviate, build_page_environment, render_page
from framedex.commands.report.places import ReportLocations
from framedex.diff.flames import classify_change
from framedex.diff.stack_paths import split_runs
from framedex.diff.text import format_change, format_path_section, format_side_heading, format_summary, format_versions

if TYPE_CHECKING:
    from framedex.diff.flames import MergedFlameGraph
    from framedex.diff.model import Differences

_SECTIONS = {
    "differences": "Differences",
    "changed_functions": "Functions",
    "changed_lines": "Lines",
    "changed_loops": "Loops",
    "changed_flames": "Flame graph",
}


def build_diff_page(found: Differences, flames: MergedFlameGraph, editor: str) -> str:
    """Return the page as HTML. Equal differences give the same page; `editor` is a key of `EDITORS`, for the links."""
    places = ReportLocations(set(_find_paths(found, flames)), editor)
    environment = build_page_environment(places)
    environment.filters.update(
        summary=format_summary,
        versions=format_versions,
        change=format_change,
        captures=format_side_heading,
        runs=split_runs,
        frames=format_path_section,
    )
    environment.globals.update(changed=classify_change, box_height=BOX_HEIGHT)
    return render_page(
        environment.get_template("page.html"),
        tool="diff",
        found=found,
        flames=flames,
        sections=_SECTIONS,
        heading=abbreviate(f"{format_side_heading(found.before)} and {format_side_heading(found.after)}"),
        files=places.files,
    )


def _find_paths(found: Differences, flames: MergedFlameGraph) -> Iterator[str]:
    pairs = [(each.before, each.after) for each in found.lines] + [(each.before, each.after) for each in found.loops]
    yield from (line.location.path for pair in pairs for line in pair if line is not None)
    yield from (node.location.path for node in flames.graph.nodes if node.location is not None)
