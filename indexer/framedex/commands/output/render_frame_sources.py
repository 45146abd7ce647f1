"""The sources of recorded frames' lines: the table, its totals, and commands that add missing sources."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from framedex import words
from framedex.commands.output.proposals import proposing
from framedex.commands.output.tables import column_widths, row_text
from framedex.commands.output.terminal import Span, text_line
from framedex.model import LinesFrom
from framedex.plaintext import printable, truncate
from framedex.releases.components import NAMES, Component
from framedex.releases.roots import short

if TYPE_CHECKING:
    from framedex.commands.output.terminal import Line
    from framedex.model import ComponentFrames, SourcedFrames

_HEADS = ("component", "version", "commit")
_FRAMES = "frames"
_WIDEST = (16, 14, 12)  # columns; a short commit has this width


def frame_source_lines(components: Sequence[ComponentFrames]) -> Iterator[Line]:
    """The table, with one row per component and source, and the totals below."""
    rows = [_cells(each) for each in components]
    widths = column_widths(_HEADS, *rows)
    total = sum(each.frames for each in components)
    room = max(len(_FRAMES), len(f"{total:,}"))
    yield text_line(f"{row_text(_HEADS, widths, 0)}  {_FRAMES:>{room}}  lines from", "head")
    for component, cells in zip(components, rows, strict=True):
        shown = cells
        for source in component.sources:
            before = f"{row_text(shown, widths, 0)}  {source.frames:>{room},}  {_kind(source)}"
            yield (
                (Span(f"{before} "), Span(printable(source.folder), elastic=True)) if source.folder else (Span(before),)
            )
            shown = ("",) * len(cells)
    here = sum(each.count(LinesFrom.SOURCE_FOLDER, LinesFrom.FILE_HERE) for each in components)
    public = sum(source.public for each in components for source in each.sources)
    yield text_line(
        f"{words.count(total, 'frame')}: {here:,} lead to a file here, {public:,} to a public page,"
        f" {total - here - public:,} nowhere.",
        "head",
    )


def improvement_lines(components: Sequence[ComponentFrames]) -> Iterator[Line]:
    """The missing sources of each component that can be fetched or added, with the command."""
    for each in components:
        component = Component(each.component)
        if component in (Component.XLA, Component.JAXLIB, Component.JAX) and each.revision:
            yield from _fetched(each, NAMES[component])
        elif component is Component.OWN:
            yield from _own(each)


def _fetched(component: ComponentFrames, name: str) -> Iterator[Line]:
    nearest, unplaced = component.count(LinesFrom.NEAREST_RELEASE), component.count(LinesFrom.NAME_ONLY)
    if nearest:
        yield _missing(nearest, name, "lines of the nearest release, which may be off", "`framedex sources fetch`")
    elif unplaced:
        yield _missing(unplaced, name, "a name only", "`framedex sources fetch`")


def _own(component: ComponentFrames) -> Iterator[Line]:
    name = "your own code"
    if unplaced := component.count(LinesFrom.NAME_ONLY):
        yield _missing(unplaced, name, "a name only", "`framedex sources add DIR`", " with its sources")
    if elsewhere := component.count(LinesFrom.DEBUG_INFORMATION, LinesFrom.CODE_OBJECT):
        yield _missing(elsewhere, name, "lines in files that are not here", "`framedex sources add DIR`", " with them")


def _missing(count: int, name: str, has: str, command: str, more: str = "") -> Line:
    verb = "has" if count == 1 else "have"
    return proposing(f"     ! {words.count(count, 'frame')} of {name} {verb} {has}: {command}{more}.", "error")


def _kind(source: SourcedFrames) -> str:
    """The kind of source, and whether the lines are public if the kind does not imply it."""
    if source.lines_from not in (LinesFrom.DEBUG_INFORMATION, LinesFrom.CODE_OBJECT) or not source.public:
        return source.lines_from.value
    share = "public" if source.public == source.frames else "some public"
    return f"{source.lines_from.value}, {share}"


def _cells(component: ComponentFrames) -> tuple[str, ...]:
    name = printable(component.name) or NAMES[Component(component.component)]
    cells = (name, printable(component.version), printable(short(component.revision)))
    return tuple(truncate(cell, widest) or "-" for cell, widest in zip(cells, _WIDEST, strict=True))
