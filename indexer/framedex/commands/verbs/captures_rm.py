"""`framedex captures rm`: remove captures and their rows in the index."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import click

from framedex import words
from framedex.capturefolder import CaptureFolder, folder_now
from framedex.commands.inputs.indexing import patience
from framedex.commands.inputs.known import checked_index_place, open_index, settings_here
from framedex.commands.inputs.scope import CaptureIds
from framedex.commands.output.console import note, print_lines
from framedex.commands.output.render_answers import capture_lines

if TYPE_CHECKING:
    from framedex.model import CaptureRow

_SECONDS = {"m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}


class _Age(click.ParamType[int]):
    """An age such as `7d`, `12h`, `30m` or `2w`, converted to seconds."""

    name = "age"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the age in seconds."""
        match = re.fullmatch(r"(\d{1,9})([mhdw])", str(value), re.ASCII)
        if match is None:
            self.fail(f"'{value}' is no age; write it like 7d, 12h, 30m or 2w.", param, ctx)
        return int(match[1]) * _SECONDS[match[2]]


@click.command("rm")
@click.argument("named", metavar="[ID...|all]", nargs=-1, type=CaptureIds(may_be_all=True))
@click.option("--older-than", "age", type=_Age(), help="Captures older than this: 7d, 12h, 30m, 2w.")
@click.option("--all-but", type=click.IntRange(min=0), metavar="N", help="All but the latest N runs.")
@click.option("--yes", "is_meant", is_flag=True, help="Confirm a choice by all, --older-than or --all-but.")
@click.option("--dry-run", is_flag=True, help="Show the captures without removing them.")
@click.pass_obj
def remove_captures(
    index_path: Path | None,
    named: tuple[tuple[int, ...], ...],
    age: int | None,
    all_but: int | None,
    is_meant: bool,
    dry_run: bool,
) -> None:
    """Remove captures and their rows in the index.

    Choose them by id, or by age or number with --yes. Without --yes the command shows the captures that it would
    remove. A choice by age or number leaves captures that are protected by `framedex captures keep` or stored
    elsewhere.
    """
    is_all, ids = () in named, tuple(chain.from_iterable(named))
    is_range = is_all or age is not None or all_but is not None
    if bool(ids) == is_range or (is_all and (age, all_but) != (None, None)):
        raise click.UsageError("Give ids of captures or `all`, or use --older-than or --all-but.")
    from framedex.index.opening import known_captures

    with open_index(index_path) as index:
        path, captures = index.path, index.captures()
        chosen = known_captures(index, ids) if ids else _in_range(captures, age, all_but)
    folders = {capture.id: folder_now(capture.path) for capture in chosen}
    if is_range:
        left = list(_left(path, chosen, folders))
        chosen = [capture for capture in chosen if capture not in left]
    if not chosen:
        note("There is nothing to remove.")
        return
    if dry_run or (is_range and not is_meant):
        print_lines(capture_lines(chosen, folders))
        size = words.size(sum(folders[capture.id].size for capture in chosen))
        more = "" if dry_run else " Nothing was removed: --yes removes them."
        note(f"{words.count(len(chosen), 'capture')} with {size} on the disk.{more}")
        return
    _remove(path, index_path, [capture.id for capture in chosen])


def _in_range(captures: Sequence[CaptureRow], age: int | None, all_but: int | None) -> list[CaptureRow]:
    runs = sorted({capture.run for capture in captures})
    latest = set(runs[len(runs) - min(all_but, len(runs)) :]) if all_but is not None else set()
    before = time.time() - age if age is not None else float("inf")
    return [capture for capture in captures if capture.run not in latest and capture.started < before]


def _left(index: Path, captures: Sequence[CaptureRow], folders: Mapping[int, CaptureFolder]) -> Iterator[CaptureRow]:
    """The captures of a range that only an id can remove; their number is noted."""
    beside = os.path.join(os.path.realpath(index.parent), "captures", "")  # noqa: PTH118 - a text, like the paths in the index
    kept = [capture for capture in captures if folders[capture.id].is_kept]
    elsewhere = [
        capture
        for capture in captures
        if capture not in kept and folders[capture.id].is_here and not capture.path.startswith(beside)
    ]
    for left, why in ((kept, "kept"), (elsewhere, "not beside the index")):
        if left:
            ids = ", ".join(str(capture.id) for capture in left)
            note(f"Left: {words.count(len(left), 'capture')} that {'is' if len(left) == 1 else 'are'} {why} ({ids}).")
    yield from (*kept, *elsewhere)


def _remove(path: Path, given: Path | None, ids: Sequence[int]) -> None:
    from framedex.index import Store
    from framedex.ingest.removal import remove_captures as removed

    settings, _ = settings_here()
    with Store(checked_index_place(path, given, settings), patience()) as store:
        freed = removed(store, ids)
        store.seal()
    note(
        f"Removed {words.count(len(ids), 'capture')}: {words.size(freed.on_disk)} of the disk are free,"
        f" and {words.size(freed.in_index)} in the index for what comes."
    )
