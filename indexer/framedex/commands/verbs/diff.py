"""`framedex diff`: compare two recordings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from framedex import words
from framedex.commands.inputs.choices import Choice
from framedex.commands.inputs.known import note_what_is_missing
from framedex.commands.inputs.sides import NamedSide, SideName, opened_side
from framedex.commands.output.console import note, print_json, print_lines
from framedex.commands.output.documents_of_diff import diff_document
from framedex.commands.output.render_diff import diff_lines
from framedex.commands.output.terminal import standard_output
from framedex.commands.output.whole_files import write_whole
from framedex.diff.model import About
from framedex.diff.noise import FLOOR, MOST, Noise

if TYPE_CHECKING:
    from framedex.diff.model import Differences
    from framedex.index import Index

_ABOUT = [each.value for each in About]
_FORMS = ["text", "json", "html"]
_MILLISECOND = 1_000_000  # ns


@click.command()
@click.argument("before", metavar="A", type=SideName())
@click.argument("after", metavar="[B]", type=SideName(), default="latest")
@click.option("--only", multiple=True, type=Choice(_ABOUT), help="Only differences of this kind. Repeatable.")
@click.option("--ignore", multiple=True, type=Choice(_ABOUT), help="Ignore differences of this kind. Repeatable.")
@click.option(
    "--threshold",
    type=click.FloatRange(min=1),
    default=MOST,
    show_default=True,
    metavar="FACTOR",
    help="Report a time that changed by more than FACTOR; fewer samples need more.",
)
@click.option(
    "--floor",
    type=click.FloatRange(min=0),
    default=FLOOR / _MILLISECOND,
    show_default=True,
    metavar="MS",
    help="Report a time whose total changed by at least MS milliseconds.",
)
@click.option("--exit-code", is_flag=True, help="Exit with status 1 on any difference.")
@click.option("--limit", type=click.IntRange(min=0), default=20, show_default=True, help="Show at most N rows; 0: all.")
@click.option("--format", "form", type=Choice(_FORMS), default="text", show_default=True, help="The format.")
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
    form: str,
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
    if form != "html" and ctx.get_parameter_source("output") is not ParameterSource.DEFAULT:
        raise click.UsageError(f"-o works with --format html only: {form} goes to stdout; redirect it with `>`.")
    if form == "html" and str(output) != "-" and not force:
        from framedex.commands.report.writing import refuse_foreign

        refuse_foreign(output)
    wanted = frozenset(each for each in About if each.value not in ignore and (not only or each.value in only))
    with opened_side(before, ctx.obj) as left, opened_side(after, ctx.obj) as right:
        from framedex.diff.comparing import differences

        found = differences(left, right, Noise(threshold, round(floor * _MILLISECOND)), wanted)
        page = _page(found, left[0], right[0]) if form == "html" else ""
    if form == "json":
        print_json(diff_document(found))
    elif form == "html":
        _write(page, output)
    else:
        note_what_is_missing(*found.before.answer.captures, *found.after.answer.captures)
        print_lines(diff_lines(found, limit))
    if exit_code and not found.is_empty:
        ctx.exit(1)


def _page(found: Differences, before: Index, after: Index) -> str:
    from framedex.commands.report.diff_page import diff_page
    from framedex.commands.report.writing import usual_editor
    from framedex.diff.flames import flames_of_both

    graphs = [
        [index.capture(capture.id).flame_graph(with_glue=False) for capture in side.answer.captures]
        for index, side in ((before, found.before), (after, found.after))
    ]
    return diff_page(found, flames_of_both(*graphs), usual_editor())


def _write(page: str, output: Path) -> None:
    if str(output) == "-":
        click.echo(page, standard_output(), nl=False)
        return
    write_whole(output, page)
    note(f"Written: {output} ({words.size(len(page))})")
