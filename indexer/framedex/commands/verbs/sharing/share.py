"""`framedex share`: write a capture into one file for another machine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import click

from framedex.base import words
from framedex.base.errors import FramedexError
from framedex.base.plaintext import make_printable, quote_shell_word
from framedex.commands.inputs.options import Choice
from framedex.commands.inputs.project_index import open_index
from framedex.commands.inputs.selection import CaptureChoice, CaptureSelection
from framedex.commands.output.atomic_files import format_total_size, open_atomic
from framedex.commands.output.bars import progress_on_terminal
from framedex.commands.output.console import note, print_lines
from framedex.commands.output.render_answers import render_problem_lines
from framedex.commands.output.terminal import Line, render_text_line
from framedex.model import Metadata
from framedex.model.scopes import CaptureScope

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.model import CaptureRow
    from framedex.sharing.redaction import Redactor
    from framedex.sharing.writing import SharingResult

_MAX_SHOWN = 20  # texts that may be sensitive


@click.command()
@click.argument("selection", metavar="[ID|latest]", type=CaptureChoice(), default="latest")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The file to write. Default: capture-ID.fdx.zip.",
)
@click.option(
    "--sources",
    type=Choice(["none", "lines", "files"]),
    help=(
        "Share no source text, recorded lines with five lines around each, or whole files. Default: "
        "lines; with --redact none."
    ),
)
@click.option("--redact", is_flag=True, help="Keep only known harmless data, and list the names that remain.")
@click.option(
    "--keep",
    "packages",
    metavar="PACKAGE",
    multiple=True,
    help="With --redact: hide names outside this package and JAX. Repeatable.",
)
@click.option("--no-clock", is_flag=True, help="Leave out the date and time.")
@click.pass_obj
def share(
    index_path: Path | None,
    selection: CaptureSelection,
    output: Path | None,
    sources: str | None,
    redact: bool,
    packages: tuple[str, ...],
    no_clock: bool,
) -> None:
    """Write a capture into one file for another machine.

    Default: the latest run. The file has its calls, names, lines and public links, so the reader needs neither the
    program nor jaxlib. `framedex import FILE` reads it. Nothing is sent anywhere.
    """
    if packages and not redact:
        raise click.UsageError("--keep works with --redact only.")
    if str(output) == "-":
        raise click.UsageError("A shared capture is a file: name one with -o.")
    from framedex.ingest.captures import open_stream
    from framedex.shared.archive import SUFFIX
    from framedex.sharing.excerpts import SourceAmount
    from framedex.sharing.redaction import Redaction
    from framedex.sharing.writing import share as write

    with open_index(index_path) as index, progress_on_terminal() as progress:
        row = _find_capture(index, selection)
        is_named, output = output is not None, output or Path(f"capture-{row.id}{SUFFIX}")
        redactor = _create_redactor(row, index.path, packages) if redact else None
        stream = open_stream(Path(row.path))
        with open_atomic(output, through_links=is_named) as file:
            excerpts = SourceAmount(sources or ("none" if redact else "lines"))
            parameters = (index.capture(row.id), file, excerpts, redactor or Redaction(), progress)
            done = write(stream, *parameters, with_clock=not no_clock)
    print_lines(_report_lines(row.id, done, redactor))
    note(f"Written: {output}{format_total_size(output)}. `framedex import {quote_shell_word(str(output))}` opens it.")


def _find_capture(index: Index, selection: CaptureSelection) -> CaptureRow:
    """The one selected capture. Raises FramedexError if it is missing, or if there are several."""
    from framedex.index.opening import find_captures, find_latest_run

    if isinstance(selection, tuple):
        rows = find_captures(index, selection)
    else:
        rows = find_latest_run(index) if selection is CaptureScope.LATEST else index.captures()
    if len(rows) == 1:
        return rows[0]
    if not rows:
        raise FramedexError("The index contains no calls.", "`framedex captures` lists the captures.")
    ids = [str(row.id) for row in rows]
    raise FramedexError(
        f"A file contains one capture, but {len(ids):,} were selected: {words.format_first_names(ids, 'capture')}.",
        f"Share each capture separately: `framedex share {ids[0]}`.",
    )


def _create_redactor(row: CaptureRow, index: Path, packages: Sequence[str]) -> Redactor:
    from framedex.sharing.redaction import Redactor
    from framedex.sharing.secrets import collect_secrets

    metadata = Metadata.parse(row.metadata_text)
    project = index.absolute().parent
    projects = [str(project.parent if project.name == ".framedex" else project), metadata.cwd or ""]
    return Redactor(collect_secrets(metadata), projects, packages or None)


def _report_lines(capture: int, result: SharingResult, redactor: Redactor | None) -> Iterator[Line]:
    contents = ", ".join(words.count(count, noun) for count, noun in result.contents if count)
    yield render_text_line(f"capture {capture}: {contents}", "head")
    yield from render_problem_lines(result.problems)
    if redactor is None:
        return
    replaced = ", ".join(f"{count:,} x {kind}" for kind, count in redactor.counts().items())
    yield render_text_line(f"replaced: {replaced or 'nothing'}")
    found = list(redactor.remaining_texts())
    yield render_text_line(f"left: {words.count(len(found), 'text')} that may be sensitive{':' if found else ''}")
    for kind, text in islice(found, _MAX_SHOWN):
        yield render_text_line(f"     {make_printable(text)}  {kind}")
    if len(found) > _MAX_SHOWN:
        yield render_text_line(f"     and {len(found) - _MAX_SHOWN:,} more")
