"""The two sides of a comparison: captures of one index or of two, as the command line names them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from framedex.commands.inputs.known import known_index, load_settings_here, open_index
from framedex.commands.inputs.scope import Chosen, captures_named, index_of_whole_runs
from framedex.diff.sides import side_of
from framedex.errors import FramedexError
from framedex.index import find_index
from framedex.model.scopes import Counted
from framedex.plaintext import shell_word

if TYPE_CHECKING:
    from framedex.diff.model import Side
    from framedex.index import Index


@dataclass(frozen=True, slots=True)
class NamedSide:
    """A side as typed: an index or a folder (None: the known index), and its captures."""

    path: Path | None
    chosen: Chosen


class SideName(click.ParamType[NamedSide]):
    """Captures of the known index (`3`, `3,5`, `latest`, `all`), the folder of a capture, or `INDEX[:CAPTURES]`."""

    name = "side"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> NamedSide:
        """Return the side."""
        text = str(value).strip()
        if (chosen := captures_named(text)) is not None:
            return NamedSide(None, chosen)
        path, _, after = text.rpartition(":")
        if path and (chosen := captures_named(after)) is not None:
            return NamedSide(Path(path), chosen)
        if not os.path.lexists(text):
            self.fail(
                f"'{value}' is no capture and no index: write an id, several (3,5), latest, all, the folder of a"
                " capture, or an index or a project's folder, with :ID behind it for one of its captures.",
                param,
                ctx,
            )
        return NamedSide(Path(text), Counted.LATEST)


@contextmanager
def opened_side(named: NamedSide, given: Path | None) -> Iterator[tuple[Index, Side]]:
    """An index restricted to the captures of a side, and the side's description; `given` is the value of --index.

    Raises FramedexError if the index or a capture is missing, or if no capture has calls.
    """
    path, chosen = _resolved(named, given)
    with index_of_whole_runs(path, chosen) as (index, answer):
        if not answer.captures:
            raise FramedexError(
                "There are no calls to compare.", "`framedex captures` lists captures with their calls."
            )
        yield index, side_of(index, answer)


def _resolved(named: NamedSide, given: Path | None) -> tuple[Path | None, Chosen]:
    """The index and captures of a side. Raises FramedexError for a folder without an index."""
    if named.path is None:
        return given, named.chosen
    if not named.path.is_dir():
        return named.path, named.chosen
    above = find_index(named.path)
    for index_path in dict.fromkeys((known_index(given, load_settings_here()), above)):
        if index_path is not None and (found := _capture_in(index_path, named.path)) is not None:
            return index_path, (found,)
    _refuse_unread(named.path)
    if above is None:
        raise FramedexError(
            f"{named.path} is not a capture, and neither it nor a folder above has an index.",
            "Record a program with `framedex run SCRIPT`, then run `framedex index`.",
        )
    return above, named.chosen


def _capture_in(index_path: Path, folder: Path) -> int | None:
    """The id of the capture in a folder; None if it is not in the index."""
    with open_index(index_path) as index:
        path = os.path.realpath(folder)
        return next((each.id for each in index.captures() if os.path.realpath(each.path) == path), None)


def _refuse_unread(folder: Path) -> None:
    """Raise FramedexError if a folder is a capture: it is then in no index."""
    from framedex.captures import captures_within  # imported late: it loads the native part

    found = []
    with suppress(FramedexError):
        found = captures_within(folder)
    if found == [folder]:
        raise FramedexError(
            f"The capture {folder} is not in an index yet.", f"`framedex index {shell_word(str(folder))}` reads it."
        )
