"""`framedex export`: write recorded calls in the formats of other viewers."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from framedex.commands.inputs.choices import Choice
from framedex.commands.inputs.filters import filter_options, nothing_passes
from framedex.commands.inputs.known import note_what_is_missing
from framedex.commands.inputs.scope import Chosen, index_of_whole_runs
from framedex.commands.output.console import note, nothing_found
from framedex.commands.output.terminal import standard_output
from framedex.commands.output.whole_files import with_size, written_whole
from framedex.errors import FramedexError
from framedex.export.formats import FORMATS, Format
from framedex.export.weights import Weight, usual_weight
from framedex.model import CallFilter

if TYPE_CHECKING:
    from framedex.export.content import Content


@click.command()
@click.option("--format", "name", type=Choice(list(FORMATS)), required=True, help="The format.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, allow_dash=True),
    required=True,
    help="The file to write; - is stdout. With parquet: a folder with one file per table.",
)
@click.option(
    "--weight",
    type=Choice([weight.value for weight in Weight]),
    help=(
        "Weight of stacks: self time, calls, or bytes of created objects. Collapsed stacks have only this"
        " weight, other formats show it first. Default: time."
    ),
)
@filter_options
@click.pass_obj
def export(
    index_path: Path | None, name: str, output: Path, weight: str | None, wanted: CallFilter, chosen: Chosen | None
) -> None:
    """Export calls for Perfetto, pprof, speedscope and others.

    perfetto and firefox have threads with their calls over time. pprof, speedscope, collapsed and otlp have every
    stack with its time, calls and bytes. scip has the lines of the current folder with their callees. csv, jsonl and
    parquet have every call. A call's time excludes recorded calls inside it, as `self` in `framedex summary`.
    docs/how-to/export.md shows how to open each format.
    """
    form = FORMATS[name]
    if weight is not None and not form.is_weighed:
        raise click.UsageError(
            f"--weight is of {', '.join(each for each in FORMATS if FORMATS[each].is_weighed)} only."
        )
    if form.tables and str(output) == "-":
        raise click.UsageError(f"{name} is a folder with several tables: name one with -o.")
    with index_of_whole_runs(index_path, chosen) as (index, _), index.reading():
        from framedex.export.content import Content

        content = Content(index, wanted)
        if not content.has_calls:
            nothing_found(nothing_passes(index, wanted))
        by = usual_weight(content) if weight is None else Weight(weight)
        written = [output]
        if form.tables:
            written = _write_tables(content, form, output)
        elif str(output) == "-":
            form.writer()(content, standard_output().buffer, by)
        else:
            write = form.writer()
            with written_whole(output) as file:
                write(content, file, by)
        if str(output) != "-":
            note(f"Written: {output}{with_size(*written)}, for {form.readers}.")
        note_what_is_missing(*content.captures)


def _write_tables(content: Content, form: Format, folder: Path) -> list[Path]:
    """Write the tables of a format into a folder, all or none, and return their paths."""
    write = form.writer()
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise FramedexError(
            f"The folder {folder} cannot be made: {error.strerror or error}.", "Name another one with -o."
        ) from error
    with ExitStack() as stack:
        paths = {name: folder / f"{name}.{form.module}" for name in form.tables}
        outputs = {name: stack.enter_context(written_whole(path, through_links=False)) for name, path in paths.items()}
        write(content, outputs)
    return list(paths.values())
