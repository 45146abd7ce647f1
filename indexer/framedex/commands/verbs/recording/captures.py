"""`framedex captures`: the runs in the index, and captures that are not indexed."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import click

from framedex.base import words
from framedex.base.errors import FramedexError
from framedex.base.folders import CaptureFolder, mark_kept, read_capture_folder
from framedex.base.plaintext import make_printable
from framedex.commands.inputs.new_captures import find_unindexed_captures
from framedex.commands.inputs.project_index import (
    check_index_is_inside,
    find_index_path,
    open_index,
    read_settings_here,
    writable_index_path,
    writer_patience,
)
from framedex.commands.inputs.selection import CaptureIds
from framedex.commands.output.console import json_option, note, print_json, print_lines
from framedex.commands.output.documents import build_captures_document
from framedex.commands.output.render_answers import render_capture_lines

if TYPE_CHECKING:
    from framedex.model import CaptureRow


@click.group(invoke_without_command=True)
@click.option("--all", "show_all", is_flag=True, help="Include captures whose folders are gone.")
@json_option
@click.pass_context
def captures(ctx: click.Context, show_all: bool, as_json: bool) -> None:
    """List the captures in the index, and those that are not indexed.

    Each row shows the id for --capture, the size on disk and the number of calls. A capture whose folder is gone
    keeps its calls in the index until it is removed. A capture that is not indexed has no id: `framedex index` adds
    it, and the verbs below take the name of its folder.
    """
    if ctx.invoked_subcommand is not None:
        return
    known = _read_captures(ctx.obj)
    found = [*known.indexed, *known.unindexed]
    folders = _read_folders(found)
    shown = [capture for capture in found if show_all or folders[capture.path].is_here]
    if as_json:
        print_json(build_captures_document(shown, folders))
        return
    print_lines(render_capture_lines(shown, folders))
    if not found:
        note("The index contains no captures. Record one with `framedex run SCRIPT`, then run `framedex index`.")
    elif len(shown) < len(found):
        gone = words.count(len(found) - len(shown), "more capture")
        note(f"The folder of {gone} is gone, but the index keeps the calls: `framedex captures --all` lists them.")


@dataclass(frozen=True, slots=True)
class _KnownCaptures:
    """The captures of an index, and those of its project that it lacks; `index` may not exist yet."""

    index: Path
    indexed: Sequence[CaptureRow]
    unindexed: Sequence[CaptureRow]

    def find(self, named: Collection[int | str]) -> list[CaptureRow]:
        """The captures with these ids, folder names or paths. Raises FramedexError if one is missing."""
        by_name: dict[int | str, CaptureRow] = {capture.id: capture for capture in self.indexed}
        for capture in self.unindexed:
            by_name |= {os.path.basename(capture.path): capture, capture.path: capture}  # noqa: PTH119 - a stored text
        keys = [os.path.realpath(name) if isinstance(name, str) and os.sep in name else name for name in named]
        for name, key in zip(named, keys, strict=True):
            if key not in by_name:
                where = "" if isinstance(name, str) else " in the index"
                raise FramedexError(
                    f"There is no capture {name}{where}. It may have been removed.",
                    "`framedex captures --all` lists all captures.",
                )
        return list(dict.fromkeys(by_name[key] for key in keys))


def _read_captures(index_path: Path | None) -> _KnownCaptures:
    """The captures in the index and the others. Raises FramedexError if there are neither an index nor captures."""
    is_named = index_path is not None
    try:
        with open_index(index_path) as index:
            unindexed = find_unindexed_captures(index, index.path, is_named=is_named)
            return _KnownCaptures(index.path, index.captures(), unindexed)
    except FramedexError:
        settings, _ = read_settings_here()
        if find_index_path(index_path, settings) is not None:
            raise
        path = writable_index_path(index_path, settings)
        if unindexed := find_unindexed_captures(None, path, is_named=is_named):
            return _KnownCaptures(path, (), unindexed)
        raise


def _read_folders(captures: Sequence[CaptureRow]) -> dict[str, CaptureFolder]:
    return {capture.path: read_capture_folder(capture.path) for capture in captures}


@click.command("keep")
@click.argument("named", metavar="ID|NAME...", nargs=-1, required=True, type=CaptureIds())
@click.option("--not", "is_removal", is_flag=True, help="Remove the protection.")
@click.pass_obj
def keep_captures(index_path: Path | None, named: tuple[tuple[int | str, ...], ...], is_removal: bool) -> None:
    """Protect captures from `framedex captures rm`.

    Removal by id still works. The mark is a file in the capture's folder. NAME is the folder of a capture that is not
    indexed.
    """
    chosen = _read_captures(index_path).find(tuple(chain.from_iterable(named)))
    for capture in chosen:
        if not read_capture_folder(capture.path).is_here:
            raise FramedexError(
                f"The folder of capture {_format_name(capture)} is gone: {capture.path}.",
                "Only a capture with a folder can be protected. `framedex captures --all` lists all captures.",
            )
    for capture in chosen:
        try:
            mark_kept(Path(capture.path), is_kept=not is_removal)
        except OSError as error:
            raise FramedexError(
                f"Capture {_format_name(capture)} cannot be protected: {error.strerror or error}: {error.filename}.",
                "Check the permissions of its folder.",
            ) from error
    note(f"{'No longer protects' if is_removal else 'Protects'} {words.count(len(chosen), 'capture')}.")


def _format_name(capture: CaptureRow) -> str:
    return str(capture.id or make_printable(os.path.basename(capture.path)))  # noqa: PTH119 - a stored text


_SECONDS_PER_UNIT = {"m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}


class _Age(click.ParamType[int]):
    """An age such as `7d`, `12h`, `30m` or `2w`, converted to seconds."""

    name = "age"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the age in seconds."""
        match = re.fullmatch(r"(\d{1,9})([mhdw])", str(value), re.ASCII)
        if match is None:
            self.fail(f"'{value}' is not an age: write 7d, 12h, 30m or 2w.", param, ctx)
        return int(match[1]) * _SECONDS_PER_UNIT[match[2]]


@click.command("rm")
@click.argument("named", metavar="[ID|NAME...|all]", nargs=-1, type=CaptureIds(may_be_all=True))
@click.option("--older-than", "age", type=_Age(), help="Captures older than this: 7d, 12h, 30m, 2w.")
@click.option("--all-but", type=click.IntRange(min=0), metavar="N", help="All but the latest N runs.")
@click.option("--yes", "is_confirmed", is_flag=True, help="Confirm a choice by all, --older-than or --all-but.")
@click.option("--dry-run", is_flag=True, help="Show the captures without removing them.")
@click.pass_obj
def remove_captures(
    index_path: Path | None,
    named: tuple[tuple[int | str, ...], ...],
    age: int | None,
    all_but: int | None,
    is_confirmed: bool,
    dry_run: bool,
) -> None:
    """Remove captures and their rows in the index.

    Choose them by id, or by age or number with --yes. Without --yes the command shows the captures that it would
    remove. A choice by age or number leaves captures that are protected by `framedex captures keep` or stored
    elsewhere. NAME is the folder of a capture that is not indexed.
    """
    is_all, ids = () in named, tuple(chain.from_iterable(named))
    is_range = is_all or age is not None or all_but is not None
    if bool(ids) == is_range or (is_all and (age, all_but) != (None, None)):
        raise click.UsageError("Give ids of captures or `all`, or use --older-than or --all-but.")
    known = _read_captures(index_path)
    chosen = known.find(ids) if ids else _select_range([*known.indexed, *known.unindexed], age, all_but)
    folders = _read_folders(chosen)
    if is_range:
        left = list(_find_protected_captures(known.index, chosen, folders))
        chosen = [capture for capture in chosen if capture not in left]
    if not chosen:
        note("No captures to remove.")
        return
    if dry_run or (is_range and not is_confirmed):
        print_lines(render_capture_lines(chosen, folders))
        size = words.format_size(sum(folders[capture.path].size for capture in chosen))
        more = "" if dry_run else " Nothing was removed: --yes removes them."
        note(f"{words.count(len(chosen), 'capture')} with {size} on the disk.{more}")
        return
    _remove_all(known.index, index_path, chosen)


def _select_range(captures: Sequence[CaptureRow], age: int | None, all_but: int | None) -> list[CaptureRow]:
    runs = sorted({capture.run for capture in captures})
    latest = set(runs[len(runs) - min(all_but, len(runs)) :]) if all_but is not None else set()
    before = time.time() - age if age is not None else float("inf")
    return [capture for capture in captures if capture.run not in latest and capture.started < before]


def _find_protected_captures(
    index: Path, captures: Sequence[CaptureRow], folders: Mapping[str, CaptureFolder]
) -> Iterator[CaptureRow]:
    """The captures of a range that only an id can remove. Notes their number and the reason."""
    captures_folder = os.path.join(os.path.realpath(index.parent), "captures", "")  # noqa: PTH118 - a text, like the paths in the index
    kept = [capture for capture in captures if folders[capture.path].is_kept]
    elsewhere = [
        capture
        for capture in captures
        if capture not in kept and folders[capture.path].is_here and not capture.path.startswith(captures_folder)
    ]
    for left, why in (
        (kept, "under protection"),
        (elsewhere, "outside the captures folder of the index"),
    ):
        if left:
            ids = ", ".join(map(_format_name, left))
            note(f"Skipped {words.count(len(left), 'capture')} {why} ({ids}).")
    yield from (*kept, *elsewhere)


def _remove_all(path: Path, index_option: Path | None, captures: Sequence[CaptureRow]) -> None:
    from framedex.index import Store
    from framedex.ingest.removal import remove_captures as remove_from_store
    from framedex.ingest.removal import remove_unindexed

    on_disk = remove_unindexed([Path(capture.path) for capture in captures if not capture.id])
    in_index = ""
    if ids := [capture.id for capture in captures if capture.id]:
        settings, _ = read_settings_here()
        with Store(check_index_is_inside(path, index_option, settings), writer_patience()) as store:
            freed = remove_from_store(store, ids)
            store.seal()
        on_disk += freed.on_disk
        in_index = f"; {words.format_size(freed.in_index)} inside the index will be reused"
    note(f"Removed {words.count(len(captures), 'capture')}. Freed {words.format_size(on_disk)} of the disk{in_index}.")
