"""`framedex diff`: compare two recordings."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from framedex.base import words
from framedex.base.errors import FramedexError
from framedex.base.plaintext import quote_shell_word
from framedex.commands.inputs.options import Choice
from framedex.commands.inputs.project_index import (
    find_index_path,
    load_settings_here,
    note_incomplete_captures,
    open_index,
)
from framedex.commands.inputs.selection import CaptureSelection, open_whole_runs, parse_captures
from framedex.commands.output.atomic_files import write_atomic
from framedex.commands.output.console import note, print_json, print_lines
from framedex.commands.output.render_diff import build_diff_document, render_diff_lines
from framedex.commands.output.terminal import standard_output
from framedex.diff.model import DiffAspect, describe_side
from framedex.diff.noise import MAX_EQUAL_RATIO, MIN_DIFFERENCE_NS, NoiseThresholds
from framedex.index import find_index
from framedex.model.scopes import CaptureScope

if TYPE_CHECKING:
    from framedex.diff.model import Differences, DiffSide
    from framedex.index import Index

_ASPECTS = [each.value for each in DiffAspect]
_FORMATS = ["text", "json", "html"]
_NS_PER_MS = 1_000_000


@dataclass(frozen=True, slots=True)
class NamedSide:
    """A side as typed: an index or a folder (None: the known index), and its captures."""

    path: Path | None
    captures: CaptureSelection


class SideName(click.ParamType[NamedSide]):
    """Captures of the known index (`3`, `3,5`, `latest`, `all`), the folder of a capture, or `INDEX[:CAPTURES]`."""

    name = "side"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> NamedSide:
        """Return the side."""
        text = str(value).strip()
        if (chosen := parse_captures(text)) is not None:
            return NamedSide(None, chosen)
        path, _, after = text.rpartition(":")
        if path and (chosen := parse_captures(after)) is not None:
            return NamedSide(Path(path), chosen)
        if not os.path.lexists(text):
            self.fail(
                f"'{value}' is not a capture or an index. Write ids (3 or 3,5), latest, all, the folder of a capture,"
                " or an index or project folder, with :ID for one of its captures (INDEX:3).",
                param,
                ctx,
            )
        return NamedSide(Path(text), CaptureScope.LATEST)


@click.command()
@click.argument("before", metavar="A", type=SideName())
@click.argument("after", metavar="[B]", type=SideName(), default="latest")
@click.option("--only", multiple=True, type=Choice(_ASPECTS), help="Only differences of this kind. Repeatable.")
@click.option("--ignore", multiple=True, type=Choice(_ASPECTS), help="Ignore differences of this kind. Repeatable.")
@click.option(
    "--threshold",
    type=click.FloatRange(min=1),
    default=MAX_EQUAL_RATIO,
    show_default=True,
    metavar="FACTOR",
    help="Report a time that changed by more than FACTOR; fewer samples need more.",
)
@click.option(
    "--floor",
    type=click.FloatRange(min=0),
    default=MIN_DIFFERENCE_NS / _NS_PER_MS,
    show_default=True,
    metavar="MS",
    help="Report a time whose total changed by at least MS milliseconds.",
)
@click.option("--exit-code", is_flag=True, help="Exit with status 1 on any difference.")
@click.option("--limit", type=click.IntRange(min=0), default=20, show_default=True, help="Show at most N rows; 0: all.")
@click.option("--format", "output_format", type=Choice(_FORMATS), default="text", show_default=True, help="The format.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False, allow_dash=True),
    default=Path("framedex-diff.html"),
    show_default=True,
    help="With html: the file to write; - is stdout.",
)
@click.option("--force", is_flag=True, help="With html: replace a file that framedex did not write.")
@click.pass_context
def diff(
    ctx: click.Context,
    /,
    before: NamedSide,
    after: NamedSide,
    only: tuple[str, ...],
    ignore: tuple[str, ...],
    threshold: float,
    floor: float,
    exit_code: bool,
    limit: int,
    output_format: str,
    output: Path,
    force: bool,
) -> None:
    """Compare two recordings by function, line and loop.

    A and B are ids of `framedex captures` (3 or 3,5), latest, all, the folder of a capture, or an index or project
    folder (INDEX or INDEX:3). Default for B: the latest run. The comparison covers calls, bytes, compilations, the
    stacks below each line, and times beyond noise.

    A moved line is recognised by its function and text. Destructor calls count for functions but not for lines,
    because Python decides when they run.
    """
    if output_format != "html" and ctx.get_parameter_source("output") is not ParameterSource.DEFAULT:
        raise click.UsageError(
            f"-o works with --format html only: {output_format} goes to stdout; redirect it with `>`."
        )
    if output_format == "html" and str(output) != "-" and not force:
        from framedex.commands.report.page import check_replaceable_report

        check_replaceable_report(output)
    wanted = frozenset(each for each in DiffAspect if each.value not in ignore and (not only or each.value in only))
    with open_diff_side(before, ctx.obj) as left, open_diff_side(after, ctx.obj) as right:
        from framedex.diff.comparison import compare_recordings

        found = compare_recordings(left, right, NoiseThresholds(threshold, round(floor * _NS_PER_MS)), wanted)
        page = _create_page(found, left[0], right[0]) if output_format == "html" else ""
    if output_format == "json":
        print_json(build_diff_document(found))
    elif output_format == "html":
        _write_page(page, output)
    else:
        note_incomplete_captures(*found.before.answer.captures, *found.after.answer.captures)
        print_lines(render_diff_lines(found, limit))
    if exit_code and not found.is_empty:
        ctx.exit(1)


def _create_page(found: Differences, before: Index, after: Index) -> str:
    from framedex.commands.report.diff_page import build_diff_page
    from framedex.commands.report.page import default_editor
    from framedex.diff.flames import merge_flames

    graphs = [
        [index.capture(capture.id).flame_graph(with_glue=False) for capture in side.answer.captures]
        for index, side in ((before, found.before), (after, found.after))
    ]
    return build_diff_page(found, merge_flames(*graphs), default_editor())


def _write_page(page: str, output: Path) -> None:
    if str(output) == "-":
        click.echo(page, standard_output(), nl=False)
        return
    write_atomic(output, page)
    note(f"Written: {output} ({words.format_size(len(page))})")


@contextmanager
def open_diff_side(named: NamedSide, named_index: Path | None) -> Iterator[tuple[Index, DiffSide]]:
    """An index restricted to the captures of a side, and the side's description; `given` is the value of --index.

    Raises FramedexError if the index or a capture is missing, or if no capture has calls.
    """
    path, chosen = _resolve_side(named, named_index)
    with open_whole_runs(path, chosen) as (index, answer):
        if not answer.captures:
            raise FramedexError(
                "There are no calls to compare.", "`framedex captures` lists captures with their calls."
            )
        yield index, describe_side(index, answer)


def _resolve_side(named: NamedSide, named_index: Path | None) -> tuple[Path | None, CaptureSelection]:
    """The index and captures of a side. Raises FramedexError for a folder without an index."""
    if named.path is None:
        return named_index, named.captures
    if not named.path.is_dir():
        return named.path, named.captures
    enclosing_index = find_index(named.path)
    for index_path in dict.fromkeys((find_index_path(named_index, load_settings_here()), enclosing_index)):
        if index_path is not None and (found := _find_capture(index_path, named.path)) is not None:
            return index_path, (found,)
    _check_is_indexed(named.path)
    if enclosing_index is None:
        raise FramedexError(
            f"{named.path} is not a capture, and neither it nor a folder above has an index.",
            "Record a program with `framedex run SCRIPT`, then run `framedex index`.",
        )
    return enclosing_index, named.captures


def _find_capture(index_path: Path, folder: Path) -> int | None:
    """The id of the capture in a folder; None if it is not in the index."""
    with open_index(index_path) as index:
        path = os.path.realpath(folder)
        return next((each.id for each in index.captures() if os.path.realpath(each.path) == path), None)


def _check_is_indexed(folder: Path) -> None:
    """Raise FramedexError if a folder is a capture: it is then in no index."""
    from framedex.captures import find_captures_within

    found = []
    with suppress(FramedexError):
        found = find_captures_within(folder)
    if found == [folder]:
        raise FramedexError(
            f"The capture {folder} is not in an index yet.",
            f"`framedex index {quote_shell_word(str(folder))}` reads it.",
        )
