"""`framedex export`: write recorded calls in the formats of other viewers."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from framedex.base.errors import FramedexError
from framedex.commands.inputs.options import Choice
from framedex.commands.inputs.project_index import note_incomplete_captures
from framedex.commands.inputs.selection import CaptureSelection, explain_no_matches, filter_options, open_whole_runs
from framedex.commands.output.atomic_files import format_total_size, open_atomic
from framedex.commands.output.console import exit_nothing_found, note
from framedex.commands.output.terminal import standard_output
from framedex.export.formats import FORMATS, Format, Weight
from framedex.model import CallFilter

if TYPE_CHECKING:
    from framedex.export.content import ExportContent


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
    index_path: Path | None,
    name: str,
    output: Path,
    weight: str | None,
    call_filter: CallFilter,
    selection: CaptureSelection | None,
) -> None:
    """Export calls for Perfetto, pprof, speedscope and others.

    perfetto and firefox have threads with their calls over time. pprof, speedscope, collapsed and otlp have every
    stack with its time, calls and bytes. scip has the lines of the current folder with their callees. csv, jsonl and
    parquet have every call. A call's time excludes recorded calls inside it, as `self` in `framedex summary`.
    docs/how-to/export.md shows how to open each format.
    """
    export_format = FORMATS[name]
    if weight is not None and not export_format.is_weighed:
        raise click.UsageError(
            f"--weight works with {', '.join(each for each in FORMATS if FORMATS[each].is_weighed)} only."
        )
    if export_format.tables and str(output) == "-":
        raise click.UsageError(f"{name} writes a folder with several tables: name a folder with -o.")
    with open_whole_runs(index_path, selection) as (index, _), index.reading():
        from framedex.export.content import ExportContent

        content = ExportContent(index, call_filter)
        if not content.has_calls:
            exit_nothing_found(explain_no_matches(index, call_filter))
        main_weight = content.default_weight if weight is None else Weight(weight)
        written = [output]
        if export_format.tables:
            written = _write_tables(content, export_format, output)
        elif str(output) == "-":
            export_format.writer()(content, standard_output().buffer, main_weight)
        else:
            write = export_format.writer()
            with open_atomic(output) as file:
                write(content, file, main_weight)
        if str(output) != "-":
            note(f"Written: {output}{format_total_size(*written)}, for {export_format.readers}.")
        note_incomplete_captures(*content.captures)


def _write_tables(content: ExportContent, export_format: Format, folder: Path) -> list[Path]:
    """Write the tables of a format into a folder, all or none, and return their paths."""
    write = export_format.writer()
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise FramedexError(
            f"The folder {folder} cannot be created: {error.strerror or error}.", "Choose another folder with -o."
        ) from error
    with ExitStack() as stack:
        paths = {name: folder / f"{name}.{export_format.module}" for name in export_format.tables}
        outputs = {name: stack.enter_context(open_atomic(path, through_links=False)) for name, path in paths.items()}
        write(content, outputs)
    return list(paths.values())
