"""Rebuild an index of an earlier framedex version in the first verb that opens it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from framedex.commands.inputs.indexing import debuginfod_here, patience
from framedex.commands.output.console import note
from framedex.errors import FramedexError
from framedex.indexplace import check_index_place
from framedex.nativepart import NoNativePartError
from framedex.settings import Settings

Opened = TypeVar("Opened")


def with_current_index(path: Path, named: Path | None, settings: Settings, use: Callable[[], Opened]) -> Opened:
    """Return the result of `use` for the index at `path`, after a rebuild if an earlier framedex wrote it.

    `named` is the value of --index. Raises FramedexError if the rebuild fails; the index is then unchanged.
    """
    from framedex.index.file.database import OutdatedIndexError

    try:
        return use()
    except OutdatedIndexError as error:
        outdated = error
    if path not in (named, settings.index):
        check_index_place(path)
    try:
        _renew(path, settings)
    except NoNativePartError as error:
        raise FramedexError(f"{outdated.message} To rebuild it: {error.message}", error.remedy) from error
    return use()


def _renew(path: Path, settings: Settings) -> None:
    from framedex.captures import capture_folders
    from framedex.commands.output.bars import progress_on_terminal
    from framedex.ingest.renewal import renew_index

    def told() -> None:
        note(f"Rebuilding the index {path} from its captures: an earlier framedex wrote it.")

    with progress_on_terminal() as progress, debuginfod_here(progress) as debuginfod:
        try:
            around = capture_folders(path.parent / "captures")
            renew_index(path, around, settings.sources, progress, told, patience(), settings.path_map, debuginfod)
        except KeyboardInterrupt:
            note("Interrupted. The index is unchanged; the next command rebuilds it.")
            raise
