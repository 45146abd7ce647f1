"""Completion candidates: captures, functions and files from the index, then local files. Nothing is written.

Each query is a limited range query on a database index, so completion stays fast for large recordings.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from framedex import words
from framedex.errors import FramedexError

if TYPE_CHECKING:
    from framedex.index import Index

_MOST = 100
_PATIENCE = 0.1  # seconds: completion does not wait for another process that writes the index
_MOST_ENTRIES = 20_000  # entries of a folder
_FILES = [CompletionItem("", type="file")]
Items = list[CompletionItem[Any]]


def values_of(context: click.Context, asked: click.Command | click.Parameter, incomplete: str) -> Items | None:
    """The candidates for a parameter; None if click's own candidates apply."""
    is_of_store = context.parent is not None and context.parent.info_name == "fleet"  # not of an index
    if not isinstance(asked, click.Parameter) or is_of_store:
        return None
    if isinstance(asked, click.Option):
        look = next((_OF_OPTIONS[each] for each in asked.opts if each in _OF_OPTIONS), None)
        return None if look is None else _from_index(context, incomplete, look)
    if (context.info_name, asked.name) in _FILE_ARGUMENTS:
        return list(_FILES)
    look = _OF_ARGUMENTS.get(context.info_name or "")
    if look is None:
        return None
    return _from_index(context, incomplete, look) + (_FILES if look is _recorded_files else [])


def files_beginning(text: str, *, only_folders: bool) -> Iterator[str]:
    """The local files and folders whose paths start with a text, as typed; folders end in a slash."""
    name = text.rpartition("/")[2]
    before = text[: len(text) - len(name)]
    with suppress(OSError), os.scandir(os.path.expanduser(before) or ".") as entries:  # noqa: PTH111
        found = [entry for entry in islice(entries, _MOST_ENTRIES) if entry.name.startswith(name)]
        for entry in sorted(found, key=lambda entry: entry.name):
            is_folder = entry.is_dir()
            if (name or not entry.name.startswith(".")) and (is_folder or not only_folders):
                yield f"{before}{entry.name}{'/' if is_folder else ''}"


def _from_index(context: click.Context, incomplete: str, look: Callable[[Index, str], Items]) -> Items:
    """The candidates from the index; empty if the index is missing or unreadable."""
    from framedex.index import Index, find_index
    from framedex.settings import Settings

    given = context.find_root().params.get("index_path")
    with suppress(FramedexError, OSError):
        path = given or Settings.load(Path.cwd())[0].index or find_index(Path.cwd())
        if path is not None:
            with Index.open(path, _PATIENCE, may_write=False) as index:
                return look(index, incomplete)
    return []


def _captures(index: Index, incomplete: str) -> Items:
    rows = [row for row in index.captures() if str(row.id).startswith(incomplete)]
    now = time.time()
    return [
        CompletionItem(str(row.id), help=f"{words.command_short(row.command)}, {words.age(now - row.started)}")
        for row in reversed(rows[-_MOST:])
    ]


def _chosen(index: Index, incomplete: str) -> Items:
    """Candidates for --capture."""
    words_for_some = ("latest", "all")
    return _captures(index, incomplete) + [
        CompletionItem(each) for each in words_for_some if each.startswith(incomplete)
    ]


def _functions(index: Index, incomplete: str) -> Items:
    return [CompletionItem(name) for name in index.beginnings.functions(incomplete, _MOST)]


def _called(index: Index, incomplete: str) -> Items:
    return [CompletionItem(name) for name in index.beginnings.boundaries(incomplete, _MOST)]


def _traced(index: Index, incomplete: str) -> Items:
    """Candidates for `trace`: runtime functions with calls, then functions on stacks."""
    return _called(index, incomplete) + _functions(index, incomplete)


def _targets(index: Index, incomplete: str) -> Items:
    return [CompletionItem(name) for name in index.beginnings.ffi_targets(incomplete, _MOST)]


def _recorded_files(index: Index, incomplete: str) -> Items:
    """The recorded files below the working folder as relative paths; absolute paths if the text starts with a slash."""
    here = os.path.join(os.getcwd(), "")  # noqa: PTH109, PTH118
    before = "" if incomplete.startswith("/") else here
    found = index.beginnings.recorded_files(before + incomplete, _MOST)
    return [CompletionItem(path.removeprefix(before)) for path in found]


def _passed(index: Index, incomplete: str) -> Items:
    """Candidates for --through."""
    return _functions(index, incomplete) + _recorded_files(index, incomplete)


_OF_OPTIONS: dict[str, Callable[[Index, str], Items]] = {
    "--capture": _chosen,
    "--function": _called,
    "--through": _passed,
}
_OF_ARGUMENTS: dict[str, Callable[[Index, str], Items]] = {
    "diff": _chosen,
    "share": _chosen,
    "keep": _captures,
    "rm": _captures,
    "callers": _functions,
    "callees": _functions,
    "find": _functions,
    "trace": _traced,
    "ffi": _targets,
    "where": _recorded_files,
    "open": _recorded_files,
}
_FILE_ARGUMENTS = {("run", "program"), ("explain", "file"), ("resolve", "file")}
