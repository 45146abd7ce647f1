"""Files on the command line: `FILE:LINE:COL`, and the base of relative paths."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from framedex.errors import FramedexError
from framedex.path_resolution.files import is_here_as_typed
from framedex.plaintext import printable
from framedex.portable import host_name
from framedex.regularfile import open_regular

if TYPE_CHECKING:
    from framedex.path_resolution.rules import PathMap

_PLACE = re.compile(
    r"(?P<path>.+?)(?:(?::|#L?|(?P<opened>\())(?P<line>\d{1,9})(?:[:,](?P<column>\d{1,9}))?(?:-L?\d{1,9})?(?(opened)\)))?:?",
    re.DOTALL,
)
_URL = re.compile(r"<?(?:file|framedex)://([^/]*)(/[^#]*?)(?:#(.*?))?>?", re.DOTALL | re.IGNORECASE)
_THIS_MACHINE = frozenset(("", "localhost", "127.0.0.1", "[::1]"))
_FRAGMENT = re.compile(r"L?(?P<line>\d{1,9})(?:[:,](?P<column>\d{1,9}))?(?:-L?\d+)?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Place:
    """A file as the user named it, with the 1-based line and column if given; `is_line_zero`: the line was 0."""

    path: Path
    line: int | None
    column: int | None
    is_line_zero: bool = False


@dataclass(frozen=True, slots=True)
class Page:
    """The public page of a line whose file is not on this machine; `name` is the place for people."""

    url: str
    name: str


def parse_place(text: str) -> Place:
    """Parse `FILE`, `FILE:LINE`, `FILE:LINE:COL`, `FILE#LLINE`, `FILE(LINE)`, or a URL `file://HOST/FILE#LINE`.

    A text that is the path of an existing file is that file. A range such as `FILE#L12-L20` means its first line. Line
    0 means no line. Raises FramedexError for the URL of another machine's file.
    """
    if is_here_as_typed(text):
        return Place(Path(text), None, None)
    if match := _URL.fullmatch(text):
        return _parse_url(*match.groups())
    match = _PLACE.fullmatch(text)
    return Place(Path(text), None, None) if match is None else _place(match["path"], match)


def place_itself(place: Place, rules: PathMap) -> Place | None:
    """The place with its path mapped by a rule, or as it is if the file exists; None otherwise."""
    if by_rule := rules.there(str(place.path)):
        return replace(place, path=Path(by_rule))
    return place if is_here_as_typed(str(place.path)) else None


def noted_if_short(place: Place) -> Place:
    """The same place, with a note if the file has fewer lines: editors then go to the last one."""
    if place.line is None or place.line <= 1:
        return place
    try:
        with open_regular(place.path) as file:
            last = sum(1 for _ in zip(file, range(place.line), strict=False))
    except (OSError, ValueError):
        return place
    if last and place.line > last + 1:
        from framedex import words
        from framedex.commands.output.console import note

        lines = words.count(last, "line")
        note(f"{printable(str(place.path))} has {lines}: line {place.line} belongs to another version.")
    return place


def _parse_url(host: str, path: str, fragment: str | None) -> Place:
    machine = unquote(host)
    if machine.lower() not in {*_THIS_MACHINE, host_name().lower()}:
        raise FramedexError(f"The file is on the machine {machine}.", "Open the link in a terminal of that machine.")
    file = unquote(path)
    if fragment is None and not is_here_as_typed(file) and (match := _PLACE.fullmatch(file)):
        return _place(match["path"], match)  # `file:///x.cc:12`, as some programs print it
    return _place(file, _FRAGMENT.fullmatch(fragment or ""))


def _place(path: str, numbers: re.Match[str] | None) -> Place:
    line, column = (numbers["line"], numbers["column"]) if numbers else (None, None)
    is_line_zero = line is not None and not int(line)
    return Place(Path(path), int(line or 0) or None, int(column or 0) or None, is_line_zero)


def working_folder() -> Path:
    """The working folder of this process. Raises FramedexError if it was deleted."""
    try:
        return Path.cwd()
    except FileNotFoundError as error:
        raise FramedexError(
            "The working folder no longer exists.",
            "Change to an existing folder: `cd FOLDER`, or `cd .` if it was created again.",
        ) from error


def absolute(path: Path) -> Path:
    """An absolute path. Raises FramedexError for a relative path if the working folder was deleted."""
    return path if path.is_absolute() else working_folder() / path
