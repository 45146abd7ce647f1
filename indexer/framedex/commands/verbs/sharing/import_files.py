"""`framedex import`: import profiles and shared captures into the index."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from framedex.base.errors import FramedexError
from framedex.commands.inputs.files import to_absolute_path
from framedex.commands.inputs.project_index import (
    load_settings_here,
    open_debuginfod,
    use_rebuilt_index,
    writable_index_path,
    writer_patience,
)
from framedex.commands.output.bars import progress_on_terminal
from framedex.commands.output.console import json_option, note, print_error, print_json, print_lines
from framedex.commands.output.documents import build_imports_document
from framedex.commands.output.render_answers import import_lines

if TYPE_CHECKING:
    from framedex.ingest.imports import ImportedFile
    from framedex.settings import Settings


@click.command(name="import")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path, dir_okay=False))
@click.option("--value", metavar="NAME", help="Weigh stacks by this value of the samples: cpu, alloc_space, ...")
@click.option(
    "--folder",
    "folders",
    multiple=True,
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Resolve relative file names here, such as site-packages. Repeatable.",
)
@json_option
@click.pass_context
def import_files(
    ctx: click.Context, files: tuple[Path, ...], value: str | None, folders: tuple[Path, ...], as_json: bool
) -> None:
    """Import profiles and shared captures into the index.

    FILE is a profile of another tool, or a file of `framedex share`. A profile becomes a capture of samples. Every
    command about stacks accepts it, and its samples appear as calls. A second import of the same file changes
    nothing.
    """
    settings = load_settings_here()
    path = writable_index_path(ctx.obj, settings)
    readable = [file for file in dict.fromkeys(files) if _is_readable(file)]
    imported = _import_files(path, ctx.obj, readable, value, folders, settings) if readable else []
    if as_json:
        print_json(build_imports_document(path, imported))
    else:
        print_lines(import_lines(imported))
    if len(imported) < len(dict.fromkeys(files)):
        ctx.exit(1)
    if not as_json:
        ids = ",".join(map(str, dict.fromkeys(each.capture for each in imported)))
        note(f"Next: `framedex summary --capture {ids}`, or `framedex report --capture {ids}` for flame graphs.")


def _is_readable(file: Path) -> bool:
    """Whether a file has a supported format. Prints the error otherwise, before an empty index is created."""
    from framedex.imports.reading import detect_format

    try:
        detect_format(file)
    except FramedexError as error:
        print_error(error)
        return False
    return True


def _import_files(
    path: Path,
    named_index: Path | None,
    files: Sequence[Path],
    value: str | None,
    folders: Sequence[Path],
    settings: Settings,
) -> list[ImportedFile]:
    """Import files into the index at a path. Prints the errors of failed files."""
    from framedex.index import Store
    from framedex.ingest.imports import import_file

    captures = to_absolute_path(path).parent / "captures"
    imported = []
    with (
        use_rebuilt_index(path, named_index, settings, lambda: Store(path, writer_patience())) as store,
        progress_on_terminal() as progress,
        open_debuginfod(progress) as debuginfod,
    ):
        for file in files:
            parameters = (captures, value, folders, settings.sources, progress, settings.path_map, debuginfod)
            try:
                imported.append(import_file(store, file, *parameters))
            except FramedexError as error:
                print_error(error)
        store.seal()
    return imported
