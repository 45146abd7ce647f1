"""`framedex sources export` and `import`: source maps, for users without a checkout."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import click

from framedex.base.errors import FramedexError
from framedex.base.plaintext import make_printable
from framedex.base.version import VERSION
from framedex.commands.inputs.project_index import (
    load_settings_here,
    use_rebuilt_index,
    writable_index_path,
    writer_patience,
)
from framedex.commands.inputs.source_stores import open_store_of_sources
from framedex.commands.output.atomic_files import open_atomic
from framedex.commands.output.bars import progress_on_terminal
from framedex.commands.output.console import print_lines
from framedex.commands.output.render_answers import format_counts, render_imported_map_lines
from framedex.commands.output.terminal import render_text_line
from framedex.model import SourceMapInfo


@click.command(name="export")
@click.argument("root", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option(
    "-o", "--output", type=click.Path(path_type=Path, dir_okay=False), required=True, help="The map: *.fdmap."
)
@click.option("--component", help="Name of the sources, such as xla. Default: that of the repository.")
@click.option("--commit", help="Their commit. Default: that of the git checkout.")
@click.option("--repository", help="Their public address, https://... Default: the checkout's origin.")
@click.option("--allow-dirty", is_flag=True, help="Accept files that changed since the commit. The map records that.")
@click.option("--no-calls", is_flag=True, help="Leave out calls: less than half the size, but call lines are unknown.")
@click.pass_obj
def export_sources(
    index_path: Path | None,
    root: Path,
    output: Path,
    component: str | None,
    commit: str | None,
    repository: str | None,
    allow_dirty: bool,
    no_calls: bool,
) -> None:
    """Write the definitions of ROOT to a source map.

    The map has names and lines, but no code. `framedex sources import` reads it.
    """
    from framedex.ingest.source_maps import export_map
    from framedex.sources.source_map import find_public_address, list_tracked_files

    source = _read_state(root, commit)
    if source.is_dirty and not allow_dirty:
        raise FramedexError(
            f"Files of {make_printable(str(source.top))} differ from its commit"
            + (f": {source.problem}" if source.problem else "."),
            "Commit or stash the changes, or export with --allow-dirty.",
        )
    repository = repository.rstrip("/").removesuffix(".git") if repository else find_public_address(root)
    name = component or (repository or str(source.top)).rstrip("/").rpartition("/")[2]
    info = _check_info(SourceMapInfo(name, repository, source.commit, source.is_dirty, VERSION))
    with (
        open_store_of_sources(root, index_path) as store,
        open_atomic(output) as stream,
        progress_on_terminal() as progress,
    ):
        exported = export_map(
            store,
            root,
            str(source.top),
            info,
            stream,
            progress,
            tracked=list_tracked_files(root),
            with_calls=not no_calls,
        )
    size = output.stat().st_size
    print_lines(
        [
            render_text_line(
                f"{output}: {info.prefix[:-1]}, {format_counts(exported.files, exported.definitions)}, {size:,} bytes"
            ),
            *([] if repository else [render_text_line("     ! without --repository its lines have no links", "error")]),
        ]
    )


@click.command(name="import")
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.pass_obj
def import_sources(index_path: Path | None, file: Path) -> None:
    """Import the definitions of a source map.

    They replace earlier definitions of the same component. A source folder takes precedence over the map.
    """
    from framedex.index import Store
    from framedex.ingest.source_maps import import_map

    settings = load_settings_here()
    path = writable_index_path(index_path, settings)
    opened = use_rebuilt_index(path, index_path, settings, lambda: Store(path, writer_patience()))
    with opened as store, progress_on_terminal() as progress:
        imported = import_map(store, file, progress)
        store.seal()
    print_lines(render_imported_map_lines(imported))


@dataclass(frozen=True, slots=True)
class _ExportSource:
    """Sources to export: the base folder of paths, the commit, and whether files may differ from the commit."""

    top: Path
    commit: str
    is_dirty: bool
    problem: str | None = None


def _read_state(root: Path, commit: str | None) -> _ExportSource:
    """The state of a folder, which must be at `commit` if given.

    Raises FramedexError if its commit is unknown or another.
    """
    from framedex.sources.releases.roots import read_checkout

    checkout = read_checkout(root)
    if checkout is None or not checkout.commit:
        if commit is None:
            raise FramedexError(
                f"{make_printable(str(root))} is not a git checkout, so its commit is unknown.",
                "Name it with --commit.",
            )
        return _ExportSource(Path(os.path.realpath(root)), commit, is_dirty=False)
    if commit is not None and commit != checkout.commit:
        raise FramedexError(
            f"{make_printable(str(root))} is at {checkout.commit}, not at {make_printable(commit)}.",
            f"Check it out first: `git checkout {make_printable(commit)}`.",
        )
    top = Path(os.path.realpath(checkout.top))
    return _ExportSource(top, checkout.commit, checkout.is_changed is not False, checkout.problem)


def _check_info(info: SourceMapInfo) -> SourceMapInfo:
    from framedex.sources.source_map import MalformedError, encode_header

    try:
        encode_header(info)
    except MalformedError as problem:
        raise FramedexError(
            f"These sources cannot be exported: {problem}.",
            "Give a name of letters and digits as --component, a full commit id as --commit, and an address without"
            " user name or password (https://...) as --repository.",
        ) from problem
    return info
