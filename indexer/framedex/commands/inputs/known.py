"""The settings of the working folder, and the index of a verb.

The index is imported inside functions: it takes half a second, and `framedex open` may not need it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from framedex import words
from framedex.commands.inputs.files import working_folder
from framedex.commands.inputs.renewal import with_current_index
from framedex.commands.output.bars import progress_of_questions
from framedex.commands.output.console import note, print_error
from framedex.errors import FramedexError
from framedex.indexplace import check_index_place
from framedex.model.scopes import Counted
from framedex.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterable

    from framedex.index import Index
    from framedex.model import CaptureRow

INDEX_FOLDER = ".framedex"

INDEX = "framedex.index"
"""The key of a verb's context with the path of its index: an unexpected error may come from damage there."""

READ_ONLY = "framedex.read-only"
"""The key of a verb's context that makes the verb read-only: an outdated index is then rejected, not rebuilt."""


def note_what_is_missing(*captures: CaptureRow) -> None:
    """Note which of these captures are incomplete, changed or partly unreadable.

    For imported captures, note the meaning of their numbers, and for shared ones, that they are shared.
    """
    from framedex.missing import doubts, is_of_samples, is_shared, stopped_early

    _note_of(
        (capture for capture in captures if is_of_samples(capture.metadata_text)),
        "imported: what counts as calls are samples, in the unit that stands in place of a function's name",
    )
    _note_of((capture for capture in captures if is_shared(capture.metadata_text)), "recorded elsewhere, and shared")
    for capture in captures:
        if capture.stops:
            note(f"Capture {capture.id} is incomplete. {stopped_early(capture.stops)}")
        if doubts(capture.problems):
            note(f"Capture {capture.id} is incomplete or has changed: `framedex captures` says why.")


def _note_of(captures: Iterable[CaptureRow], what: str) -> None:
    ids = sorted(capture.id for capture in captures)
    if ids:
        were = "was" if len(ids) == 1 else "were"
        note(f"{words.count(len(ids), 'capture')} ({', '.join(map(str, ids))}) {were} {what}.")


def settings_here() -> tuple[Settings, list[str]]:
    """The settings of the working folder, and their problems; empty settings if the folder was deleted."""
    try:
        return Settings.load(working_folder())
    except FramedexError:
        return Settings(), []


def load_settings_here() -> Settings:
    """The settings of the working folder; their problems are printed as notes."""
    settings, problems = settings_here()
    for problem in problems:
        note(problem)
    return settings


def known_index(given: Path | None, settings: Settings) -> Path | None:
    """The path of the index: the value of --index, otherwise that of the settings, otherwise the nearest one.

    None if there is none. Raises FramedexError if the working folder is needed and was deleted.
    """
    from framedex.index import find_index

    found = given or settings.index or find_index(working_folder())
    context = click.get_current_context(silent=True)
    if context is not None and found is not None:
        context.meta[INDEX] = found
    return found


def needed_index(given: Path | None, settings: Settings) -> Path:
    """The path of the index, as in `known_index`. Raises FramedexError if there is none."""
    found = known_index(given, settings)
    if found is None:
        raise FramedexError(
            "There is no index here or in a folder above (.framedex/index.db).",
            "Record a program with `framedex run SCRIPT`, then run `framedex index`.",
        )
    return found


def index_path_here(given: Path | None, settings: Settings) -> Path:
    """The path for writing the index: the known one, otherwise one below this folder.

    Raises FramedexError as `known_index` does, and if symbolic links lead out of the project.
    """
    path = known_index(given, settings) or working_folder() / INDEX_FOLDER / "index.db"
    return checked_index_place(path, given, settings)


def checked_index_place(path: Path, given: Path | None, settings: Settings) -> Path:
    """The path for writing the index.

    Raises FramedexError if the path was not named and symbolic links lead it out of the project.
    """
    if path not in (given, settings.index):
        check_index_place(path)
    return path


def open_index(path: Path | None, counted: Counted = Counted.ALL) -> Index:
    """Open the known index (`path` is the value of --index). Raises FramedexError if there is none.

    `counted` is passed to `Index.open`.
    """
    from framedex.index import Index

    settings = load_settings_here()
    found = needed_index(path, settings)
    may_write = not is_read_only()

    def opened() -> Index:
        return Index.open(found, links=settings.links, counted=counted, may_write=may_write)

    index = with_current_index(found, path, settings, opened) if may_write else opened()
    index.tell(progress_of_questions())
    note_if_changed(index)
    return index


def is_read_only() -> bool:
    """Whether the running verb may not write."""
    context = click.get_current_context(silent=True)
    return context is not None and READ_ONLY in context.meta


def note_if_changed(index: Index) -> None:
    """Print an error if another program has changed the index: its answers may be wrong."""
    from framedex.index.file.database import changed_by_others

    if index.was_changed:
        print_error(changed_by_others(index.path))
