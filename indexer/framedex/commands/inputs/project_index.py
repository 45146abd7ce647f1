"""Read the settings of the working folder; find, open and rebuild the index that a command uses.

The index is imported inside functions: it takes half a second, and `framedex open` may not need it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from framedex.base import words
from framedex.base.errors import FramedexError
from framedex.base.folders import check_index_path
from framedex.base.nativepart import NoNativePartError
from framedex.commands.inputs.files import working_folder
from framedex.commands.inputs.new_captures import INDEX_FOLDER, add_new_captures, create_index
from framedex.commands.output.bars import progress_on_terminal, query_progress
from framedex.commands.output.console import note, print_error
from framedex.model.scopes import CaptureScope
from framedex.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterable

    from framedex.base.progress import Progress
    from framedex.binaries.debuginfod import Debuginfod
    from framedex.index import Index
    from framedex.index.file.database import LockTimeout
    from framedex.model import CaptureRow

INDEX_KEY = "framedex.index"
"""The key of a verb's context with the path of its index; an unexpected error may come from a damaged index."""

HEADING_INDEX_KEY = "framedex.heading-index"
"""The context key of a verb for the path of its index, relative to the working folder, if several indexes are
possible."""

READ_ONLY_KEY = "framedex.read-only"
"""The key of a verb's context that makes the verb read-only: it rejects an outdated index, and does not rebuild it."""


def note_incomplete_captures(*captures: CaptureRow) -> None:
    """Note which of these captures are incomplete, changed, partly unreadable, imported or shared."""
    from framedex.texts.captures import (
        format_data_problems,
        format_early_stop,
        format_unrecorded_queries,
        is_of_samples,
        is_shared,
    )

    _note_captures(
        (capture for capture in captures if is_of_samples(capture.metadata_text)),
        "imported: calls are samples here, and function names are their units",
    )
    _note_captures(
        (capture for capture in captures if is_shared(capture.metadata_text)), "recorded on another machine and shared"
    )
    for capture in captures:
        if capture.stops:
            note(f"Capture {capture.id} is incomplete. {format_early_stop(capture.stops)}")
        if queries := format_unrecorded_queries(capture.stops):
            note(f"Capture {capture.id}: {queries}")
        if format_data_problems(capture.problems):
            note(f"Capture {capture.id} is incomplete or has changed: `framedex captures` shows the reason.")


def _note_captures(captures: Iterable[CaptureRow], predicate: str) -> None:
    ids = sorted(capture.id for capture in captures)
    if ids:
        were = "was" if len(ids) == 1 else "were"
        note(f"{words.count(len(ids), 'capture')} ({', '.join(map(str, ids))}) {were} {predicate}.")


def read_settings_here() -> tuple[Settings, list[str]]:
    """The settings of the working folder, and their problems; empty settings if the folder was deleted."""
    try:
        return Settings.load(working_folder())
    except FramedexError:
        return Settings(), []


def load_settings_here() -> Settings:
    """The settings of the working folder; their problems are printed as notes."""
    settings, problems = read_settings_here()
    for problem in problems:
        note(problem)
    return settings


def find_index_path(index_option: Path | None, settings: Settings) -> Path | None:
    """The path of the index: the value of --index, otherwise that of the settings, otherwise the nearest one.

    None if there is none. Raises FramedexError if the working folder is needed and was deleted.
    """
    from framedex.index import find_index

    found = index_option or settings.index or find_index(working_folder())
    context = click.get_current_context(silent=True)
    if context is not None and found is not None:
        context.meta[INDEX_KEY] = found
    return found


def require_index_path(index_option: Path | None, settings: Settings) -> Path:
    """The path of the index, as in `find_index_path`. Raises FramedexError if there is none."""
    found = find_index_path(index_option, settings)
    if found is None:
        raise FramedexError(
            "There is no index here or in a folder above (.framedex/index.db).",
            "Record a program with `framedex run SCRIPT`, then run `framedex index`.",
        )
    return found


def writable_index_path(index_option: Path | None, settings: Settings) -> Path:
    """The path for writing the index: that of the existing index, otherwise one below this folder.

    Raises FramedexError as `find_index_path` does, and if symbolic links lead out of the project.
    """
    path = find_index_path(index_option, settings) or working_folder() / INDEX_FOLDER / "index.db"
    return check_index_is_inside(path, index_option, settings)


def check_index_is_inside(path: Path, index_option: Path | None, settings: Settings) -> Path:
    """The path for writing the index.

    Raises FramedexError if the path was not named and symbolic links lead it out of the project.
    """
    if path not in (index_option, settings.index):
        check_index_path(path)
    return path


def open_index(
    path: Path | None,
    counted: CaptureScope = CaptureScope.ALL,
    latest_recording: Callable[[Index], float] | None = None,
) -> Index:
    """Open the index of this verb (`path` is the value of --index). Raises FramedexError if there is none.

    `counted` is passed to `Index.open`. If several folders above have an index and none was named, the answer's heading
    says which one answers: the nearest. `latest_recording` returns the start time of the latest recording in an
    index: the index with the latest one is chosen.
    """
    settings = load_settings_here()
    index = _open_current(path, settings, counted)
    others = [] if path or settings.index else [each for each in _indexes_here() if each != index.path]
    if latest_recording is not None:
        for other in others:
            try:
                check_index_path(other)
                candidate = _open_current(other, settings, counted)
            except FramedexError as error:
                note(f"The index {other} was left out: {error.message}")
                continue
            if latest_recording(candidate) > latest_recording(index):
                index, candidate = candidate, index
            candidate.close()
    context = click.get_current_context(silent=True)
    if context is not None and others:
        context.meta.update({HEADING_INDEX_KEY: os.path.relpath(index.path), INDEX_KEY: index.path})
        if index.path in others:
            context.find_root().obj = index.path  # proposed commands then include --index
    index.set_progress_listener(query_progress())
    report_if_changed(index)
    return index


def _indexes_here() -> Iterator[Path]:
    from framedex.index.file.database import find_indexes

    return find_indexes(working_folder())


def _open_current(path: Path | None, settings: Settings, counted: CaptureScope) -> Index:
    """Open an index after the new captures were added to it. `path` is as in `open_index`."""
    from framedex.index import Index

    may_write = not is_read_only()
    if may_write and find_index_path(path, settings) is None:
        create_index(writable_index_path(path, settings), settings)
    found = require_index_path(path, settings)

    def opened() -> Index:
        return Index.open(found, links=settings.links, counted=counted, may_write=may_write)

    index = use_rebuilt_index(found, path, settings, opened) if may_write else opened()
    if add_new_captures(index, found, settings, is_named=path is not None, may_write=may_write):
        index.close()
        index = opened()
    return index


def is_read_only() -> bool:
    """Whether the running verb must not write."""
    context = click.get_current_context(silent=True)
    return context is not None and READ_ONLY_KEY in context.meta


def report_if_changed(index: Index) -> None:
    """Print an error if another program has changed the index: its answers may be wrong."""
    from framedex.index.file.database import changed_index_error

    if index.was_changed:
        print_error(changed_index_error(index.path))


_WRITER_TIMEOUT_S = 3600.0  # a rebuild of a large project may take many minutes; Ctrl-C ends the wait


def writer_patience() -> LockTimeout:
    """The time that a writing verb waits for another writer, and the note that it prints meanwhile."""
    from framedex.index.file.database import LockTimeout

    return LockTimeout(_WRITER_TIMEOUT_S, lambda: note("Another process writes this index; waiting for it to finish."))


@contextmanager
def open_debuginfod(progress: Progress) -> Iterator[Debuginfod | None]:
    """The debuginfod client for the servers in DEBUGINFOD_URLS; None without servers.

    At the end, print notes about the received debug files and about problems.
    """
    if not os.environ.get("DEBUGINFOD_URLS"):
        yield None
        return
    from framedex.binaries.debuginfod import configure_debuginfod

    debuginfod = configure_debuginfod(os.environ, progress)
    yield debuginfod
    if debuginfod is not None:
        for server, names in debuginfod.downloads.items():
            note(f"{server} provided debug information for {', '.join(names)}.")
        for problem in debuginfod.problems:
            note(problem)


IndexResult = TypeVar("IndexResult")


def use_rebuilt_index(
    path: Path, named: Path | None, settings: Settings, use: Callable[[], IndexResult]
) -> IndexResult:
    """Return the result of `use` for the index at `path`, after a rebuild if an earlier framedex wrote it.

    `named` is the value of --index. Raises FramedexError if the rebuild fails; the index is then unchanged.
    """
    from framedex.index.file.database import OutdatedIndexError

    try:
        return use()
    except OutdatedIndexError as error:
        outdated = error
    if path not in (named, settings.index):
        check_index_path(path)
    try:
        _rebuild(path, settings)
    except NoNativePartError as error:
        raise FramedexError(f"{outdated.message} To rebuild it: {error.message}", error.remedy) from error
    return use()


def _rebuild(path: Path, settings: Settings) -> None:
    from framedex.captures import capture_folders
    from framedex.ingest.rebuild import renew_index

    def note_rebuild() -> None:
        note(f"Rebuilding the index {path} from its captures: an earlier framedex wrote it.")

    with progress_on_terminal() as progress, open_debuginfod(progress) as debuginfod:
        try:
            around = capture_folders(path.parent / "captures")
            renew_index(
                path, around, settings.sources, progress, note_rebuild, writer_patience(), settings.path_map, debuginfod
            )
        except KeyboardInterrupt:
            note("Interrupted. The index is unchanged; the next command rebuilds it.")
            raise
