"""`framedex fleet pull`: copy captures of a store into an index."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from framedex.base import words
from framedex.base.errors import FramedexError
from framedex.base.plaintext import quote_shell_word
from framedex.commands.inputs.files import to_absolute_path
from framedex.commands.inputs.options import store_option
from framedex.commands.inputs.project_index import (
    load_settings_here,
    use_rebuilt_index,
    writable_index_path,
    writer_patience,
)
from framedex.commands.output.bars import progress_on_terminal
from framedex.commands.output.console import json_option, note, print_error, print_json, print_lines
from framedex.commands.output.documents import build_imports_document
from framedex.commands.output.terminal import render_text_line

if TYPE_CHECKING:
    from framedex.fleet.choosing import CaptureFilter
    from framedex.ingest.imports import ImportedFile
    from framedex.settings import Settings


@click.command("pull")
@store_option
@click.option("--job", help="Captures of this job.")
@click.option("--rank", type=click.IntRange(min=0), help="Captures of this rank.")
@click.option("--capture", metavar="ID", multiple=True, help="One capture, by the start of its id.")
@click.option("--day", metavar="DAY", help="Captures of this day, such as 2026-11-24 (UTC).")
@click.option("--since", metavar="DAY", help="Captures of this day or later.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="The index. Default: that of the project."
)
@json_option
@click.pass_context
def pull_from_fleet(
    ctx: click.Context,
    store: str,
    job: str | None,
    rank: int | None,
    capture: tuple[str, ...],
    day: str | None,
    since: str | None,
    output: Path | None,
    as_json: bool,
) -> None:
    """Copy chosen captures of a store into an index.

    Editors and verbs then answer as on the machine that added them. A capture is chosen if it matches all of --job,
    --rank, --capture, --day and --since; default: every capture. Captures that were pulled before are updated if the
    store has more of them.
    """
    from framedex.fleet.choosing import CaptureFilter

    settings = load_settings_here()
    named_path = output or ctx.obj
    path = writable_index_path(named_path, settings)
    chosen = CaptureFilter(job=job, rank=rank, captures=capture, day=day, since=since)
    pulled, refused = _pull_captures(path, named_path, store, chosen, settings)
    imported = [done for _, done in pulled]
    if as_json:
        print_json(build_imports_document(path, imported) | {"left_out": refused})
    else:
        print_lines(render_text_line(_format_pulled(row, done), "head") for row, done in pulled)
    if refused:
        ctx.exit(1)
    if not as_json:
        ids = ",".join(map(str, dict.fromkeys(each.capture for each in imported)))
        summary = f"`framedex summary --capture {ids}`"
        if output is not None:
            summary = f"`framedex --index {quote_shell_word(str(output))} summary --capture {ids}`"
        note(f"Next: {summary}, or open the project in an editor.")


def _pull_captures(
    path: Path, named_path: Path | None, store: str, chosen: CaptureFilter, settings: Settings
) -> tuple[list[tuple[Mapping[str, Any], ImportedFile]], list[dict[str, str]]]:
    """Pull captures into the index at a path. Prints the errors of failed captures, and returns both lists."""
    from framedex.fleet.pulling import pull_captures
    from framedex.fleet.store_queries import StoreConnection
    from framedex.fleet.store_root import StoreRoot
    from framedex.index import Store

    pulled, refused = [], []
    with StoreConnection(StoreRoot(store)) as connection:
        rows = chosen.rows(connection)
        with (
            use_rebuilt_index(path, named_path, settings, lambda: Store(path, writer_patience())) as index,
            progress_on_terminal() as progress,
        ):
            how = (to_absolute_path(path).parent / "captures", settings.sources, progress, settings.path_map)
            for row, done in pull_captures(connection, rows, index, *how):
                if isinstance(done, FramedexError):
                    print_error(done)
                    refused.append({"capture": row["capture"], "problem": done.message, "remedy": done.remedy})
                else:
                    pulled.append((row, done))
            index.seal()
        for problem in connection.left_out:
            note(problem)
    return pulled, refused


def _format_pulled(row: Mapping[str, Any], imported: ImportedFile) -> str:
    """Format a line about a pulled capture."""
    rank = "" if row["rank"] is None else f", rank {row['rank']}"
    of_job = f" of {row['job']}{rank}" if row["job"] else rank
    title = f"{row['capture']}{of_job}: capture {imported.capture}"
    if imported.report is None:
        return f"{title}, already indexed"
    contents = f"{words.count(imported.report.calls, 'call')}, {words.count(imported.report.stacks, 'stack')}"
    return f"{title}: {contents}{' (read again: it has changed)' if imported.report.grown else ''}"
