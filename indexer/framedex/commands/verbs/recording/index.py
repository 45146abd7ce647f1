"""`framedex index`: add captures and sources to the index."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from framedex.base import words
from framedex.base.errors import FramedexError
from framedex.base.plaintext import make_printable, quote_shell_word
from framedex.base.progress import SilentProgress
from framedex.commands.inputs.missing_answers import propose_stray_captures
from framedex.commands.inputs.new_captures import list_project_captures, project_folder
from framedex.commands.inputs.project_index import (
    load_settings_here,
    open_debuginfod,
    use_rebuilt_index,
    writable_index_path,
    writer_patience,
)
from framedex.commands.output.bars import progress_on_terminal
from framedex.commands.output.console import json_option, note, print_error, print_json, print_lines
from framedex.commands.output.documents import index_document
from framedex.commands.output.render_answers import report_lines
from framedex.model import CallFilter
from framedex.path_resolution.files import select_usable_rules

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.ingest import IndexingReport
    from framedex.model import CaptureRow
    from framedex.settings import Settings

# Calls with interesting stacks; most others are getters of a few nanoseconds.
_INTERESTING_FUNCTIONS = ("PJRT_LoadedExecutable_Execute", "PJRT_Client_BufferFromHostBuffer")


@click.command(name="index")
@click.argument("captures", metavar="[DIR]...", nargs=-1, type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option(
    "--source",
    "sources",
    multiple=True,
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Find definitions in this folder, now and on later runs. Repeatable.",
)
@click.option("--lazy", is_flag=True, help="Read only the sources of recorded functions. A later run reads the rest.")
@click.option("--rebuild", is_flag=True, help="Rebuild the index from its captures and source folders.")
@click.option(
    "--follow",
    is_flag=True,
    help="Index running programs twice a second until Ctrl-C. Editors show new calls.",
)
@json_option
@click.pass_context
def index_captures(
    ctx: click.Context,
    captures: tuple[Path, ...],
    sources: tuple[Path, ...],
    lazy: bool,
    rebuild: bool,
    follow: bool,
    as_json: bool,
) -> None:
    """Name recorded frames and find their source lines.

    DIR is a capture or a folder of captures, such as DIR of `framedex run -o DIR`. Default: every capture below
    .framedex/captures that is new or has grown. You can interrupt it: the next run continues.

    Missing debug files are requested from the servers in DEBUGINFOD_URLS.
    """
    if lazy and rebuild:
        raise FramedexError(
            "--rebuild reads all sources, and --lazy reads only some.",
            "Use one of them: `framedex index --rebuild`, or `framedex index --lazy`.",
        )
    if follow and (rebuild or as_json):
        raise FramedexError("--follow runs until it is interrupted.", "Use it without --rebuild and --json.")
    settings = load_settings_here()
    path = writable_index_path(ctx.obj, settings)
    if follow:
        _follow_running_programs(path, ctx.obj, captures, sources, settings)
        return
    try:
        report = _update_index(path, ctx.obj, captures, sources, settings, lazy, rebuild)
    except KeyboardInterrupt:
        if rebuild:
            note("Interrupted. The rebuild was discarded; run the same command again, with its --source folders.")
        else:
            named = "".join(f" {quote_shell_word(str(capture))}" for capture in captures)
            note(f"Interrupted. Finished work is kept; run `framedex index{named}` again to continue.")
        raise
    if as_json:
        print_json(index_document(path, report))
    else:
        print_lines(report_lines(report))
    for capture, error in report.refused:
        print_error(_not_indexed_error(capture, error))
    if report.refused:
        ctx.exit(1)
    if not as_json:
        note(_propose_next_command(path, report, captures))


def _update_index(
    path: Path,
    named: Path | None,
    captures: tuple[Path, ...],
    sources: tuple[Path, ...],
    settings: Settings,
    lazy: bool,
    rebuild: bool,
) -> IndexingReport:
    from framedex.index import Store
    from framedex.index.file.database import changed_index_error
    from framedex.ingest import find_needed_sources, find_sources, ingest_captures, rebuild_index

    roots = [*sources, *settings.sources]
    wanted, unusable = _choose_captures(path, captures)
    if unusable and not wanted and not roots:
        raise next(iter(unusable.values()))
    if not roots and not os.path.exists(path):  # noqa: PTH110 - Path.exists raises
        _check_any_readable(path, wanted)
    with progress_on_terminal() as progress, open_debuginfod(progress) as debuginfod:
        if rebuild:
            report = rebuild_index(path, wanted, roots, progress, writer_patience(), settings.path_map, debuginfod)
        else:
            with use_rebuilt_index(path, named, settings, lambda: Store(path, writer_patience())) as store:
                if store.was_changed_outside:
                    print_error(changed_index_error(path))
                find = find_needed_sources if lazy else find_sources
                report = ingest_captures(store, wanted, roots, progress, find, settings.path_map, debuginfod)
                store.seal()
    _note_outside_folders(path, settings)
    return replace(report, refused=(*unusable.items(), *report.refused))


def _note_outside_folders(path: Path, settings: Settings) -> None:
    """Note folders outside of the settings' own folder that the settings name and the user has not added."""
    from framedex.index import Index

    mapped = [rule for rule in settings.path_map if rule.is_outside]
    if not settings.outside and not mapped:
        return
    with Index.open(path, may_write=False) as index:
        known = {root.path for root in index.sources.roots()}
    for folder in settings.outside:
        if os.path.realpath(folder) not in known:
            note(
                f"{settings.file} names {folder} as a source folder. It is outside the folder of that file, so it is"
                f" not read. To add it: `framedex sources add {quote_shell_word(str(folder))}`."
            )
    usable = select_usable_rules(mapped, tuple(known))
    for rule in mapped:
        if rule not in usable:
            folder = rule.after.parent if os.path.isfile(rule.after) else rule.after  # noqa: PTH113 - Path.is_file raises
            note(
                f"The path-map in {settings.file} leads from {make_printable(rule.before)} to {rule.after}. It "
                "is outside"
                " the folder of that file, so this rule is not used. To use it:"
                f" `framedex sources add {quote_shell_word(str(folder))}`, then `framedex index`."
            )


def _check_any_readable(path: Path, captures: Sequence[Path]) -> None:
    """Raise FramedexError if nothing can be indexed: an empty index would hide that of a folder above."""
    from framedex.captures import project_captures_folder
    from framedex.ingest.captures import read_states

    readable, refused = read_states(captures)
    if readable:
        return
    *others, last = [_not_indexed_error(capture, error) for capture, error in refused.items()] or [
        FramedexError(
            f"Nothing to index: no captures in {project_captures_folder(project_folder(path))}.",
            propose_stray_captures(())
            or "Record a program with `framedex run SCRIPT`, or name a capture or a --source folder.",
        )
    ]
    for error in others:
        print_error(error)
    raise last


def _not_indexed_error(capture: Path, error: FramedexError) -> FramedexError:
    return FramedexError(f"{capture} was not indexed: {error.message}", error.remedy)


def _follow_running_programs(
    path: Path, index: Path | None, named: tuple[Path, ...], sources: tuple[Path, ...], settings: Settings
) -> None:
    """Index the finished captures, then follow those that are still being written until Ctrl-C."""
    from framedex.index import Store
    from framedex.ingest import find_needed_sources, ingest_captures
    from framedex.ingest.follow import UPDATE_INTERVAL_S, Follower

    captures, unusable = _choose_captures(path, named)
    with (
        use_rebuilt_index(path, index, settings, lambda: Store(path, writer_patience())) as store,
        progress_on_terminal() as progress,
        open_debuginfod(progress) as debuginfod,
    ):
        complete = [capture for capture in captures if _is_complete(capture)]
        roots = [*sources, *settings.sources]
        report = ingest_captures(store, complete, roots, progress, find_needed_sources, settings.path_map, debuginfod)
        for capture, error in (*unusable.items(), *report.refused):
            print_error(_not_indexed_error(capture, error))
        follower = Follower(store, lambda: find_needed_sources(store, SilentProgress()), debuginfod)
        with suppress(KeyboardInterrupt):
            note("Following running programs. Ctrl-C stops; indexed calls are kept.")
            with progress.task("Following", None) as advance:
                while True:
                    advance(1, calls=follower.update([each for each in captures if each not in complete]))
                    while follower.refused:
                        capture, error = follower.refused.popitem()
                        print_error(FramedexError(f"{capture} cannot be followed: {error.message}", error.remedy))
                    time.sleep(UPDATE_INTERVAL_S)
                    captures, _ = _choose_captures(path, named)
    new_calls = words.count(follower.calls, "call")
    note(f"Indexed {new_calls}. Next: `framedex index` also reads all sources.")


def _is_complete(capture: Path) -> bool:
    """Whether a capture is complete; true for an unreadable one, too."""
    from framedex.captures import is_complete

    try:
        return is_complete(capture)
    except FramedexError:
        return True


def _choose_captures(path: Path, named: Sequence[Path]) -> tuple[list[Path], dict[Path, FramedexError]]:
    """The named captures, otherwise the project's, and the named folders without captures with the reason."""
    return _find_captures(named) if named else (list_project_captures(path), {})


def _find_captures(folders: Sequence[Path]) -> tuple[list[Path], dict[Path, FramedexError]]:
    """The captures that folders are or contain, and the folders without captures with the reason."""
    from framedex.captures import find_captures_within

    found: list[Path] = []
    unusable: dict[Path, FramedexError] = {}
    for folder in folders:
        try:
            found += find_captures_within(folder)
        except FramedexError as error:
            unusable[folder] = error
    return found, unusable


def _propose_next_command(path: Path, report: IndexingReport, named: Sequence[Path]) -> str:
    from framedex.index import Index

    read = {os.path.realpath(capture.path) for capture in report.captures if capture.calls}
    with Index.open(path) as index:
        captures = {os.path.realpath(capture.path): capture for capture in index.captures()}
        latest = [capture for place, capture in captures.items() if place in read]
        if latest:
            return f"Next: `framedex calls` lists the calls, {_propose_trace(index, latest[-1])}."
    if not report.captures and not named and (stray_advice := propose_stray_captures(captures.keys())):
        return stray_advice
    if not report.totals.python_frames + report.totals.native_frames:
        return "Nothing is recorded yet. Next: `framedex run SCRIPT`, then `framedex index`."
    return "Next: `framedex calls`."


def _propose_trace(index: Index, capture: CaptureRow) -> str:
    """The command that shows a stack of the capture, preferably of an interesting call."""
    wanted = (CallFilter(function=name, capture=capture.id) for name in (*_INTERESTING_FUNCTIONS, None))
    first_calls = next(filter(None, (index.calls.find(each, 1) for each in wanted)))
    return f"`framedex trace {first_calls[0].id}` shows the stack of one"
